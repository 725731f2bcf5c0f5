"""Expected time and memory of jobs, the plan and the progress of a run."""
