"""What a task's reference computes, element by element: read off by running it on symbols."""
