"""Measures of the study: functions that jobs call, and what they rest on."""
