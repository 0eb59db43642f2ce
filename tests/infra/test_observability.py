"""The alarm topic, the dashboard and the budget."""

import json

from tests.infra.synthesis import Resource, Synthesis


def dashboard(synthesis: Synthesis) -> str:
    (resource,) = synthesis.resources("AWS::CloudWatch::Dashboard")
    return json.dumps(resource.properties["DashboardBody"])


def test_alarms_can_reach_the_topic(synthesis: Synthesis) -> None:
    """Encrypted under the key AWS manages, a topic refuses CloudWatch, and nobody hears of it."""
    (topic,) = synthesis.resources("AWS::SNS::Topic")
    assert "alias/aws/sns" not in json.dumps(topic.properties["KmsMasterKeyId"])
    (key,) = synthesis.resources("AWS::KMS::Key")
    assert key.properties["EnableKeyRotation"] is True
    (statement,) = (
        statement
        for statement in key.properties["KeyPolicy"]["Statement"]
        if statement["Principal"].get("Service") == "cloudwatch.amazonaws.com"
    )
    assert statement["Action"] == ["kms:Decrypt", "kms:GenerateDataKey*"]
    assert "aws:SourceAccount" in json.dumps(statement["Condition"])


def test_the_topic_takes_tls_only_and_alarms_of_this_account(synthesis: Synthesis) -> None:
    (policy,) = synthesis.resources("AWS::SNS::TopicPolicy")
    by_effect = {
        statement["Effect"]: statement
        for statement in policy.properties["PolicyDocument"]["Statement"]
    }
    assert by_effect["Deny"]["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert by_effect["Allow"]["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert "aws:SourceAccount" in json.dumps(by_effect["Allow"]["Condition"])


def test_who_is_notified(synthesis: Synthesis) -> None:
    email = synthesis.settings.alarms.email
    assert [
        (subscription.properties["Protocol"], subscription.properties["Endpoint"])
        for subscription in synthesis.resources("AWS::SNS::Subscription")
    ] == ([("email", email)] if email else [])


def test_the_dashboard_is_about_this_environment(synthesis: Synthesis) -> None:
    """Copied names show another environment's graphs, all green."""
    settings = synthesis.settings
    body = dashboard(synthesis)
    for text in (settings.endpoint_name, f"{settings.runtime_name}::live"):
        assert text in body
    for metric in ("FirstAudio", "Errors", "MidStreamErrors", "ConcurrentRequestsPerModel"):
        assert metric in body
    assert str(settings.alarms.first_audio_p95_ms) in body


def test_the_dashboard_shows_what_the_alarms_watch(synthesis: Synthesis) -> None:
    """A metric renamed in one place is an alarm over nothing, or a graph that stays empty."""
    body = dashboard(synthesis)
    alarms: list[Resource] = synthesis.resources("AWS::CloudWatch::Alarm")
    assert len(alarms) >= 4
    for alarm in alarms:
        assert alarm.properties["MetricName"] in body
        for dimension in alarm.properties["Dimensions"]:
            assert dimension["Value"] in body


def test_latency_is_not_taken_from_a_metric_that_is_not_emitted(synthesis: Synthesis) -> None:
    """SageMaker emits no ModelLatency for bidirectional streams."""
    for stack, template in synthesis.templates.items():
        assert "ModelLatency" not in json.dumps(template), stack


def test_nothing_is_referred_to(synthesis: Synthesis) -> None:
    """It is deployed first, so that the others can use its topic."""
    assert "GetStackOutput" not in json.dumps(synthesis.templates["Observability"])


def test_the_budget_counts_this_environment(synthesis: Synthesis) -> None:
    budgets = synthesis.resources("AWS::Budgets::Budget")
    if synthesis.settings.budget is None:
        assert budgets == []
        return
    (budget,) = budgets
    data = budget.properties["Budget"]
    assert data["CostFilters"] == {"TagKeyValue": [f"user:environment${synthesis.settings.name}"]}
    assert data["BudgetLimit"]["Amount"] == synthesis.settings.budget.monthly_usd
    thresholds = [
        (entry["Notification"]["Threshold"], entry["Subscribers"][0]["Address"])
        for entry in budget.properties["NotificationsWithSubscribers"]
    ]
    email = synthesis.settings.budget.email
    assert thresholds == [(80, email), (100, email)]
