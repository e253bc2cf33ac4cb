"""What two vendors of GPUs share: sessions, compile processes, what code objects tell."""
