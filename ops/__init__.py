"""Commands against a deployed environment: `python -m ops <command> --env <environment>`."""
