"""Documents held against a framework: verdicts, each on citations that stand verbatim in the text."""
