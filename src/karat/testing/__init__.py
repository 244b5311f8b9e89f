"""What users need to test with karat: a chat server that misbehaves on command."""
