"""The page of advice as HTML."""
