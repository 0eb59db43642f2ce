"""Commands that operate a deployed environment: `python -m ops <command> --env <environment>`."""
