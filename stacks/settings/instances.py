"""The SageMaker instances and host images on which the container runs."""

CUDA_MAJOR_BY_AMI = {
    "al2023-ami-sagemaker-inference-gpu-4-1": 13,
    "al2-ami-sagemaker-inference-gpu-3-1": 12,
}
"""The CUDA major version of each inference AMI (SageMaker API reference, ProductionVariant,
InferenceAmiVersion). The image must have the same version: a newer one does not start, and an older
one hangs or ends without a log (aws/deep-learning-containers#6187)."""
IMAGE_CUDA_MAJOR = 13
"""The CUDA major version of the GPU image, which is that of the packages in its lock file."""

GPU_FAMILIES = ("g4dn", "g5", "g6", "g6e", "p4d", "p5")
"""x86-64 instance families with an NVIDIA GPU."""
CPU_FAMILIES = ("c5", "c6i", "c7i", "m5", "m6i", "m7i", "r6i", "r7i")
"""x86-64 instance families without a GPU."""
