"""Credit: who is asked next, drawn by what was gained for what it cost. numpy, no Ray."""
