"""The scripted agent and its scenarios: what `ralph demo` shows and the end-to-end tests drive."""
