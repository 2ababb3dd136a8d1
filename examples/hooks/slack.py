"""Posts what happened to Slack: the address of an incoming webhook in $SLACK_WEBHOOK.

Standard library only. Without the variable it prints, and the line is in hooks.log.
"""

import json
import os
import sys
import urllib.request


def words(event):
    sweep = f"{event['name']} on {event['host']}"
    counts = event["counts"]
    done = counts["completed"] + counts["stopped"] + counts["failed"]
    if event["event"] == "stuck":
        return f"{sweep} is stuck: {event['why']} ({done} of {counts['planned']} done)"
    best = event["best"]
    params = " ".join(f"{name}={value}" for name, value in best.get("params", {}).items())
    return (f"{sweep}: {event['metric']} {best['value']} in trial {best['trial']} "
            f"({done} of {counts['planned']} done) {params}")


def main():
    text = words(json.load(sys.stdin))
    webhook = os.environ.get("SLACK_WEBHOOK")
    if not webhook:
        print(text)
        return
    request = urllib.request.Request(webhook, json.dumps({"text": text}).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        print(answer.status, text)


main()
