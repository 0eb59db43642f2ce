"""The alarms' topic, the dashboard and the budget."""

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
    """The alarm topic, the dashboard and, if there is one, the budget.

    It names what it shows instead of referring to it, so that it can be deployed first and the
    other stacks' alarms can use the topic.

    Args:
        app: The CDK app.
        settings: The environment's settings.

    Attributes:
        alarm_topic: The topic that alarms publish to.
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
