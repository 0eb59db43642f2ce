"""Which SageMaker instances and host images the container runs on."""

CUDA_MAJOR_BY_AMI = {
    "al2023-ami-sagemaker-inference-gpu-4-1": 13,
    "al2-ami-sagemaker-inference-gpu-3-1": 12,
}
"""CUDA major of each inference AMI (SageMaker API reference, ProductionVariant,
InferenceAmiVersion). The image's must be the same: newer does not start on it, older hangs or dies
without a log (aws/deep-learning-containers#6187)."""
IMAGE_CUDA_MAJOR = 13
"""CUDA major of the GPU image that `container/` builds: that of the packages in its lock."""

GPU_FAMILIES = ("g4dn", "g5", "g6", "g6e", "p4d", "p5")
"""Instance families with an NVIDIA GPU, x86-64."""
CPU_FAMILIES = ("c5", "c6i", "c7i", "m5", "m6i", "m7i", "r6i", "r7i")
"""Instance families without one, x86-64."""
