"""What the workflow has to know before it plans: configuration, blocks of seeds, files that code rests on."""
