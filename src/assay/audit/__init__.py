"""Who did what to which document: a trail that shows whether somebody has changed it."""
