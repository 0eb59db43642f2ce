"""Who is told, what is looked at and what it may cost."""

import aws_cdk as cdk
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from stacks.agent import LIVE
from stacks.constructs import speech_metrics as speech
from stacks.settings import Budget, Settings
from stacks.settings.speech import PRODUCTION_VARIANT
from stacks.stack import EnvironmentStack

BUDGET_ALARMS_PERCENT = (80, 100)
MINUTE = cdk.Duration.minutes(1)


class ObservabilityStack(EnvironmentStack):
    """The alarm topic, the dashboard and, if there is one, the budget.

    It names what it shows instead of referring to it, so that it can be deployed first and the
    other stacks' alarms can use the topic.

    Args:
        scope: the app.
        construct_id: `<environment>-Observability`.
        settings: of the environment.

    Attributes:
        alarm_topic: what alarms publish to.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(
            scope,
            construct_id,
            settings=settings,
            description=f"Voice agent of {settings.name}: alarm topic, dashboard and budget",
        )
        self.alarm_topic = self._topic(settings.alarms.email)
        dashboard = cloudwatch.Dashboard(self, "Dashboard", widgets=_widgets(settings))
        if settings.budget is not None:
            self._budget(settings.name, settings.budget)
        cdk.CfnOutput(self, "AlarmTopicArn", value=self.alarm_topic.topic_arn)
        cdk.CfnOutput(self, "DashboardName", value=dashboard.dashboard_name)

    def _topic(self, email: str | None) -> sns.Topic:
        # Alarms cannot publish to a topic under the key that AWS manages, whose policy nobody can
        # extend (CloudWatch user guide, "Amazon SNS encryption"). No alias: it would be in the
        # way of the next deploy.
        key = kms.Key(
            self,
            "TopicKey",
            description="Alarms of the voice agent",
            enable_key_rotation=True,
            pending_window=cdk.Duration.days(7),
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        topic = sns.Topic(self, "AlarmTopic", master_key=key, enforce_ssl=True)
        cloudwatch_alarms = iam.ServicePrincipal(
            "cloudwatch.amazonaws.com",
            conditions={"StringEquals": {"aws:SourceAccount": self.account}},
        )
        key.grant(cloudwatch_alarms, "kms:Decrypt", "kms:GenerateDataKey*")
        topic.grant_publish(cloudwatch_alarms)
        if email is not None:
            topic.add_subscription(subscriptions.EmailSubscription(email))
        return topic

    def _budget(self, environment: str, budget: Budget) -> None:
        """A monthly budget over what carries the environment's tag.

        The tag `environment` has to be activated for cost allocation once in the account (Billing
        user guide, "Activating user-defined cost allocation tags").
        """
        budgets.CfnBudget(
            self,
            "Budget",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=budget.monthly_usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:environment${environment}"]},
            ),
            notifications_with_subscribers=[
                budgets.CfnBudget.NotificationWithSubscribersProperty(
                    notification=budgets.CfnBudget.NotificationProperty(
                        notification_type="ACTUAL",
                        comparison_operator="GREATER_THAN",
                        threshold=percent,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[
                        budgets.CfnBudget.SubscriberProperty(
                            subscription_type="EMAIL", address=budget.email
                        )
                    ],
                )
                for percent in BUDGET_ALARMS_PERCENT
            ],
        )


def _widgets(settings: Settings) -> list[list[cloudwatch.IWidget]]:
    """The dashboard, top to bottom: does it speak in time, is there room, does the agent answer."""
    endpoint, runtime = settings.endpoint_name, settings.runtime_name
    instances = settings.speech.instances
    return [
        [
            _graph(
                "First audio of a sentence, ms",
                speech.first_audio(endpoint, "p50"),
                speech.first_audio(endpoint, "p95"),
                line=("alarm", settings.alarms.first_audio_p95_ms),
            ),
            _graph(
                "Sentences, and what failed",
                speech.requests(endpoint),
                speech.errors(endpoint),
                speech.mid_stream_errors(endpoint),
            ),
            _graph(
                "Seconds of work per second of audio",
                speech.real_time_factor(endpoint),
                line=("slower than speech", 1),
            ),
        ],
        [
            _graph(
                "Open conversations an instance",
                speech.sessions_per_instance(endpoint, "Maximum"),
                line=("target", instances.sessions_per_instance),
            ),
            _graph(
                "Instances",
                # Each reports its load once a minute.
                _of_instances(endpoint, "CPUUtilization", "SampleCount").with_(label="instances"),
                line=("maximum", instances.maximum),
            ),
            _graph(
                "Utilization, % of a core or GPU",
                _of_instances(endpoint, "CPUUtilization", "Average"),
                _of_instances(endpoint, "GPUUtilization", "Average"),
            ),
        ],
        [
            _graph(
                "Agent: calls and new sessions",
                _of_agent(runtime, "Invocations", "Sum"),
                _of_agent(runtime, "SessionCount", "Sum"),
            ),
            _graph(
                "Agent: what failed",
                _of_agent(runtime, "SystemErrors", "Sum"),
                _of_agent(runtime, "UserErrors", "Sum"),
                _of_agent(runtime, "Throttles", "Sum"),
            ),
            _graph("Agent: length of a call, ms", _of_agent(runtime, "Latency", "Average")),
        ],
    ]


def _graph(
    title: str, *metrics: cloudwatch.IMetric, line: tuple[str, float] | None = None
) -> cloudwatch.GraphWidget:
    annotations = [cloudwatch.HorizontalAnnotation(label=line[0], value=line[1])] if line else []
    return cloudwatch.GraphWidget(
        title=title, left=list(metrics), left_annotations=annotations, width=8
    )


def _of_instances(endpoint_name: str, name: str, statistic: str) -> cloudwatch.Metric:
    """A metric of the endpoint's instances (SageMaker developer guide, "Monitor Amazon SageMaker
    AI with Amazon CloudWatch", endpoint metrics).
    """
    return cloudwatch.Metric(
        namespace="/aws/sagemaker/Endpoints",
        metric_name=name,
        dimensions_map={"EndpointName": endpoint_name, "VariantName": PRODUCTION_VARIANT},
        statistic=statistic,
        period=MINUTE,
    )


def _of_agent(runtime_name: str, name: str, statistic: str) -> cloudwatch.MathExpression:
    """A metric of the AgentCore runtime, a line for each of its endpoints.

    A search, because the metric's dimensions hold the runtime's ARN, which is known only after the
    deploy (AgentCore developer guide, "AgentCore generated runtime observability data").
    """
    search = (
        "{AWS/Bedrock-AgentCore,Name,Operation,Resource} "
        f'MetricName="{name}" Name=("{runtime_name}::DEFAULT" OR "{runtime_name}::{LIVE}")'
    )
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{search}', '{statistic}', 60)", label=name, period=MINUTE
    )
