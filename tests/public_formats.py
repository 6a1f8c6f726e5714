"""What others write of the formats of credentials, and examples that are made of it.

Written from the sources, not from ``dcf.secret_form``: ``gl`` is a rule of gitleaks
(config/gitleaks.toml at b58d3f1), ``th`` a detector of trufflehog (pkg/detectors at 3ab759f),
``ds`` a plugin of detect-secrets 1.5.0; others are addresses. In a format ``{w36}`` are 36 signs of
an alphabet: ``w`` letters and digits, ``l`` small ones, ``c`` capital ones, ``h`` and ``H``
hexadecimal ones, ``d`` digits, ``u`` those of addresses, ``b`` those of Base64.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

_ALPHABETS = {
    "w": ascii_letters + digits,
    "l": ascii_lowercase + digits,
    "c": ascii_uppercase + digits,
    "h": digits + "abcdef",
    "H": digits + "ABCDEF",
    "d": digits,
    "u": ascii_letters + digits + "-_",
    "b": ascii_letters + digits + "+/",
}
_FIELD = re.compile(r"\{(?P<alphabet>[a-zA-Z])(?P<count>\d*)\}")
_UUID = "{h8}-{h4}-{h4}-{h4}-{h12}"

# Who makes it, what it looks like, who says so.
PUBLIC_FORMATS = (
    ("1Password", "A3-{c6}-{c11}-{c5}-{c5}-{c5}", "gl 1password-secret-key"),
    ("1Password", "ops_eyJ{b250}", "gl 1password-service-account-token"),
    ("Adafruit", "aio_{w28}", "th adafruitio"),
    ("Adobe", "p8e-{l32}", "gl adobe-client-secret"),
    ("age", "AGE-SECRET-KEY-1{c58}", "gl age-secret-key"),
    ("Airtable", "pat{w14}.{h64}", "gl airtable-personnal-access-token"),
    ("Alibaba", "LTAI{l20}", "gl alibaba-access-key-id"),
    ("Anthropic", "sk-ant-api03-{u93}AA", "gl anthropic-api-key"),
    ("Anthropic", "sk-ant-admin01-{u93}AA", "gl anthropic-admin-api-key"),
    ("Apify", "apify_api_{w36}", "th apify"),
    ("Artifactory", "AKCp{w69}", "gl artifactory-api-key"),
    ("Artifactory", "cmVmd{w59}", "gl artifactory-reference-token"),
    ("Atlassian", "ATATT3{u184}={w8}", "th jiratoken/v2"),
    ("AWS", "AKIA{c16}", "gl aws-access-token"),
    ("AWS", "ASIA{c16}", "gl aws-access-token"),
    ("AWS", "ABSK{b110}", "gl aws-amazon-bedrock-api-key-long-lived"),
    ("AWS", "aws_secret_access_key = {b40}", "ds aws"),
    ("Azure", "AccountKey={b86}==", "ds azure_storage_key"),
    ("Azure", "{w3}8Q~{u34}", "gl azure-ad-client-secret"),
    ("Bitbucket", "ATBB{w28}", "th bitbucketapppassword"),
    ("Brevo", "xkeysib-{h64}-{l16}", "gl sendinblue-api-token"),
    ("Buildkite", "bkua_{l40}", "th buildkite/v2"),
    ("CircleCI", "CCIPAT_{w22}_{h40}", "th circleci/v2"),
    ("ClickHouse", "4b1d{w38}", "gl clickhouse-cloud-api-secret-key"),
    ("Clojars", "CLOJARS_{l60}", "gl clojars-api-token"),
    ("Cloudflare", "v1.0-{h24}-{h146}", "gl cloudflare-origin-ca-key"),
    ("Cloudflare", "cfut_{w40}{h8}", "th cloudflareapitoken/v2"),
    ("Contentful", "CFPAT-{u43}", "th contentfulpersonalaccesstoken"),
    ("Databricks", "dapi{h32}", "gl databricks-api-token"),
    ("Datadog", "DATADOG_API_KEY={h40}", "gl datadog-access-token"),
    ("Defined Networking", "dnkey-{l26}-{l52}", "gl defined-networking-api-token"),
    ("Deno", "ddp_{w36}", "th deno"),
    ("DigitalOcean", "dop_v1_{h64}", "gl digitalocean-pat"),
    ("Discord", "M{w23}.{u6}.{u27}", "ds discord"),
    (
        "Discord",
        "https://discord.com/api/webhooks/{d18}/{u68}",
        "https://discord.com/developers/docs/resources/webhook",
    ),
    ("Docker", "dckr_pat_{u27}", "th dockerhub/v2"),
    ("Doppler", "dp.pt.{l43}", "gl doppler-api-token"),
    ("Dropbox", "sl.{u135}", "gl dropbox-short-lived-api-token"),
    ("Duffel", "duffel_test_{u43}", "gl duffel-api-token"),
    ("Dynatrace", "dt0c01.{c24}.{c64}", "gl dynatrace-api-token"),
    ("EasyPost", "EZAK{w54}", "gl easypost-api-token"),
    ("ElevenLabs", "sk_{h48}", "th elevenlabs/v2"),
    ("Facebook", "EAAC{w150}", "gl facebook-page-access-token"),
    ("Facebook", "{d15}|{u30}", "gl facebook-access-token"),
    ("Figma", "figp_{u40}", "th figmapersonalaccesstoken/v3"),
    ("Flutterwave", "FLWSECK_TEST-{h32}-X", "gl flutterwave-secret-key"),
    ("Fly.io", "fo1_{u43}", "gl flyio-access-token"),
    ("Frame.io", "fio-u-{u64}", "gl frameio-api-token"),
    ("GitHub", "ghp_{w36}", "gl github-pat"),
    ("GitHub", "gho_{w36}", "gl github-oauth"),
    ("GitHub", "ghu_{w36}", "gl github-app-token"),
    ("GitHub", "ghs_{w36}", "gl github-app-token"),
    ("GitHub", "ghr_{w36}", "gl github-refresh-token"),
    ("GitHub", "github_pat_{w22}_{w59}", "gl github-fine-grained-pat"),
    ("GitLab", "glpat-{u20}", "gl gitlab-pat"),
    ("GitLab", "glptt-{h40}", "gl gitlab-ptt"),
    ("GitLab", "GR1348941{u20}", "gl gitlab-rrt"),
    ("GoCardless", "live_{u40}", "gl gocardless-api-token"),
    ("Google", "AIza{u35}", "gl gcp-api-key"),
    ("Google", "ya29.{u60}", "th googleoauth2"),
    ("Grafana", "glc_{b80}", "gl grafana-cloud-api-token"),
    ("Grafana", "glsa_{w32}_{h8}", "gl grafana-service-account-token"),
    ("Grafana", "eyJrIjoi{w90}", "gl grafana-api-key"),
    ("Groq", "gsk_{w52}", "th groq"),
    ("Harness", "pat.{u22}.{w24}.{w20}", "gl harness-api-key"),
    ("HashiCorp", "{w14}.atlasv1.{u65}", "gl hashicorp-tf-api-token"),
    ("HashiCorp", "hvs.{u95}", "gl vault-service-token"),
    ("HashiCorp", "hvb.{u150}", "gl vault-batch-token"),
    ("Heroku", f"HEROKU_API_KEY={_UUID}", "gl heroku-api-key"),
    ("Heroku", "HRKU-AA{u58}", "gl heroku-api-key-v2"),
    ("HubSpot", f"pat-na1-{_UUID}", "th hubspot_apikey/v2"),
    ("Hugging Face", "hf_{w34}", "gl huggingface-access-token"),
    ("Infracost", "ico-{w32}", "gl infracost-api-token"),
    ("Intra42", "s-s4t2ud-{h64}", "gl intra42-client-secret"),
    ("LangSmith", "lsv2_pt_{h32}_{h10}", "th langsmith"),
    ("LaunchDarkly", f"sdk-{_UUID}", "th launchdarkly"),
    ("Linear", "lin_api_{l40}", "gl linear-api-key"),
    ("Lob", "live_{h35}", "gl lob-api-key"),
    ("Mailchimp", "{h32}-us14", "ds mailchimp"),
    ("Mailgun", "key-{h32}", "gl mailgun-private-api-token"),
    ("MaxMind", "{w6}_{w29}_mmk", "gl maxmind-license-key"),
    (
        "Microsoft Teams",
        f"https://shop.webhook.office.com/webhookb2/{_UUID}@{_UUID}/IncomingWebhook/{{h32}}/{_UUID}",
        "gl microsoft-teams-webhook",
    ),
    ("New Relic", "NRAK-{c27}", "th newrelicuserkey"),
    ("New Relic", "NRII-{u32}", "gl new-relic-insert-key"),
    ("New Relic", "{h32}FFFFNRAL", "th newreliclicensekey"),
    ("Notion", "ntn_{d11}{w35}", "gl notion-api-token"),
    ("Notion", "secret_{w43}", "th notion"),
    ("npm", "npm_{w36}", "gl npm-access-token"),
    ("NVIDIA", "nvapi-{u64}", "th nvapi"),
    ("Octopus Deploy", "API-{c26}", "gl octopus-deploy-api-key"),
    ("OpenAI", "sk-{w20}T3BlbkFJ{w20}", "gl openai-api-key"),
    ("OpenAI", "sk-proj-{u74}T3BlbkFJ{u74}", "gl openai-api-key"),
    ("OpenRouter", "sk-or-v1-{h64}", "th openrouter"),
    ("OpenShift", "sha256~{u43}", "gl openshift-user-token"),
    ("Perplexity", "pplx-{w48}", "gl perplexity-api-key"),
    ("Pinecone", "pcsk_{w6}_{w63}", "th pinecone"),
    ("Plaid", f"access-sandbox-{_UUID}", "gl plaid-api-token"),
    ("PlanetScale", "pscale_tkn_{u43}", "gl planetscale-api-token"),
    ("PostHog", "phx_{w43}", "th posthog"),
    ("Postman", "PMAK-{h24}-{h34}", "gl postman-api-token"),
    ("Prefect", "pnu_{w36}", "gl prefect-api-token"),
    ("Pulumi", "pul-{h40}", "gl pulumi-api-token"),
    ("PyPI", "pypi-AgEIcHlwaS5vcmc{u100}", "gl pypi-upload-token"),
    ("Ramp", "ramp_sec_{w48}", "th ramp"),
    ("Razorpay", "rzp_live_{w14}", "th razorpay"),
    ("ReadMe", "rdme_{l70}", "gl readme-api-token"),
    ("Replicate", "r8_{u37}", "th replicate"),
    ("Rootly", "rootly_{h64}", "th rootly"),
    ("RubyGems", "rubygems_{h48}", "gl rubygems-api-token"),
    ("Salesforce", "00{w13}!{w96}", "th salesforce"),
    ("Scalingo", "tk-us-{u48}", "gl scalingo-api-token"),
    ("SendGrid", "SG.{u22}.{u43}", "ds sendgrid"),
    ("Sentry", "sntryu_{h64}", "gl sentry-user-token"),
    ("SettleMint", "sm_pat_{w16}", "gl settlemint-personal-access-token"),
    ("Shippo", "shippo_live_{h40}", "gl shippo-api-token"),
    ("Shopify", "shpat_{h32}", "gl shopify-access-token"),
    ("Slack", "xoxb-{d12}-{d12}-{w24}", "gl slack-bot-token"),
    ("Slack", "xoxp-{d12}-{d12}-{d12}-{w32}", "gl slack-user-token"),
    ("Slack", "xapp-1-{c11}-{d13}-{l64}", "gl slack-app-token"),
    ("Slack", "https://hooks.slack.com/services/T{c8}/B{c8}/{w24}", "gl slack-webhook-url"),
    ("Cerebras", "csk-{l48}", "betterleaks cerebras-api-key"),
    ("Firecrawl", "fc-{h32}", "https://docs.firecrawl.dev"),
    (
        "Google",
        "1//0{u99}",
        "https://developers.google.com/identity/protocols/oauth2/web-server",
    ),
    ("Neon", "napi_{l64}", "https://neon.com/docs/manage/api-keys"),
    (
        "PayPal",
        "access_token$production${l16}${h32}",
        "https://www.ndss-symposium.org/ndss-paper/how-bad-can-it-git-characterizing-secret-leakage-in-public-github-repositories/",
    ),
    ("Snyk", f"SNYK_TOKEN={_UUID}", "gl snyk-api-token"),
    ("Sonar", "squ_{h40}", "gl sonar-api-token"),
    ("Sourcegraph", "sgp_{h16}_{h40}", "gl sourcegraph-access-token"),
    ("Square", "sq0atp-{u22}", "gl square-access-token"),
    ("Square", "EAAA{u60}", "gl square-access-token"),
    ("Square", "sq0csp-{u43}", "ds square_oauth"),
    ("Stripe", "sk_live_{w24}", "ds stripe"),
    ("Stripe", "rk_test_{w99}", "gl stripe-access-token"),
    ("Stripe", "pi_{w24}_secret_{w25}", "th stripepaymentintent"),
    ("Supabase", "sbp_{l40}", "th supabasetoken"),
    ("Tailscale", "tskey-auth-{w12}-{w32}", "th tailscale"),
    ("Telegram", "{d9}:AA{u33}", "ds telegram_token"),
    ("Twilio", "SK{h32}", "https://www.twilio.com/docs/glossary/what-is-a-sid"),
    ("Twitter", "AAAAAAAAAAAAAAAAAAAAAA{w90}", "gl twitter-bearer-token"),
    ("Typeform", "tfp_{u59}", "gl typeform-api-token"),
    ("Ubidots", "BBFF-{w30}", "th ubidots"),
    ("Voiceflow", "VF.DM.{h24}.{w16}", "th voiceflow"),
    ("xAI", "xai-{w80}", "th xai"),
    ("Yandex", "AQVN{u37}", "gl yandex-api-key"),
    ("Zoho", "1000.{h32}.{h32}", "th zohocrm"),
    (
        "any",
        "-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n-----END RSA PRIVATE KEY-----",
        "gl private-key",
    ),
    ("any", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx{w20}.{u43}", "gl jwt"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """``text`` is of a format that ``source`` tells; ``drawn`` is the longest part of it that
    chance made."""

    maker: str
    source: str
    text: str
    drawn: str


def examples(seed: int, each: int = 1) -> list[Example]:
    """So many of each format."""
    rng = Random(seed)
    return [_example(rng, *row) for row in PUBLIC_FORMATS for _ in range(each)]


def _example(rng: Random, maker: str, look: str, source: str) -> Example:
    drawn: list[str] = []

    def draw(field: re.Match[str]) -> str:
        drawn.append(_some(rng, _ALPHABETS[field["alphabet"]], int(field["count"])))
        return drawn[-1]

    text = _FIELD.sub(draw, look)
    return Example(maker, source, text, max(drawn, key=len))


def _some(rng: Random, alphabet: str, count: int) -> str:
    """At least one digit: what is drawn nearly always has one."""
    signs = rng.choices(alphabet, k=count)
    signs[rng.randrange(count)] = rng.choice("23456789")
    return "".join(signs)
