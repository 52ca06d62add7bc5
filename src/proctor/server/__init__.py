"""The service: rewards, verdicts and executions over HTTP."""
