"""The settings and connections that all conversations of the process share."""

from dataclasses import dataclass
from typing import Self

from strands.models import BedrockModel

from speech_client.batch import BatchSynthesizer
from speech_client.endpoint import SpeechEndpoint
from voice_agent.model import create_model
from voice_agent.settings import Settings


@dataclass(frozen=True)
class Services:
    """The settings, and the connections to Bedrock and SageMaker."""

    settings: Settings
    model: BedrockModel
    speech: SpeechEndpoint
    batch: BatchSynthesizer

    @classmethod
    def create(cls, settings: Settings) -> Self:
        """Return the services that `settings` describe. No connection is opened yet."""
        return cls(
            settings=settings,
            model=create_model(settings),
            speech=SpeechEndpoint(
                settings.endpoint_name,
                region=settings.region,
                ca_file=settings.ca_file,
                open_timeout_s=settings.speech_open_timeout_s,
            ),
            batch=BatchSynthesizer(
                settings.endpoint_name,
                region=settings.region,
                timeout_s=settings.batch_timeout_s,
                max_connections=settings.max_conversations,
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self.speech.close()
        self.batch.close()
