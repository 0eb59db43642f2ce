"""Servers at the agent's Bedrock address: scripted replies, or a real model's."""
