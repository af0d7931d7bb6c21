"""What passes between the keeper and the runner: frames over a socket pair, and the records in them."""
