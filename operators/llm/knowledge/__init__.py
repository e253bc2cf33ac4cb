"""Knowledge: what is known of devices and of portable kernels, in short texts."""
