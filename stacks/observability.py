"""The alarm topic, the dashboard and the budget."""

import aws_cdk as cdk
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions

from stacks.constructs.agent_monitoring import agent_widgets
from stacks.constructs.speech_monitoring import speech_widgets
from stacks.settings import Settings
from stacks.settings.alarms import Budget
from stacks.stack import EnvironmentStack

BUDGET_ALARMS_PERCENT = (80, 100)


class ObservabilityStack(EnvironmentStack):
    """The alarm topic, the dashboard and the budget, if the settings have one.

    The dashboard uses the names of the resources that it shows, not references to them. Therefore
    this stack can be deployed first, and the alarms of the other stacks can use the topic.

    Args:
        app: The CDK app.
        settings: The environment's settings.

    Attributes:
        alarm_topic: The topic to which alarms publish.
    """

    def __init__(self, app: cdk.App, *, settings: Settings) -> None:
        super().__init__(
            app,
            "observability",
            settings=settings,
            description=f"Voice agent of {settings.name}: alarm topic, dashboard and budget",
        )
        self.alarm_topic = self._topic(settings.alarms.email)
        rows = [
            *speech_widgets(settings.endpoint_name, settings.alarms, settings.speech.instances),
            *agent_widgets(settings.runtime_name),
        ]
        dashboard = cloudwatch.Dashboard(self, "Dashboard", widgets=rows)
        if settings.budget is not None:
            self._budget(settings.name, settings.budget)
        cdk.CfnOutput(self, "AlarmTopicArn", value=self.alarm_topic.topic_arn)
        cdk.CfnOutput(self, "DashboardName", value=dashboard.dashboard_name)

    def _topic(self, email: str | None) -> sns.Topic:
        # Alarms cannot publish to a topic with the AWS managed key, because the policy of that key
        # cannot be changed (CloudWatch user guide, "Amazon SNS encryption"). The key has no alias:
        # a left-over alias would block the next deploy.
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
        """Add a monthly budget for the resources with the environment's tag.

        The tag `environment` must be activated once in the account as a cost allocation tag
        (Billing user guide, "Activating user-defined cost allocation tags").
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
