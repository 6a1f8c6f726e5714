"""How the credentials of known makers look, and where that is said.

A row is a kind, what the credential begins with, the alphabet of what follows and the least number
of its signs; or a kind and its whole look, where that is more than a beginning. Where a maker's
lengths vary, the least is taken, since an unknown longer one is still a credential.

Sources, as facts: ``gl`` is a rule of gitleaks (github.com/gitleaks/gitleaks, config/gitleaks.toml
at b58d3f1), ``th`` a detector of trufflehog (github.com/trufflesecurity/trufflehog, pkg/detectors
at 3ab759f), ``ds`` a plugin of detect-secrets 1.5.0; others are addresses.
"""

from __future__ import annotations

from dataclasses import dataclass

WORD = "[A-Za-z0-9]"
_LOWER = "[a-z0-9]"
_URL = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"
_ANY_HEX = "[0-9a-fA-F]"
# As they are, or as addresses have them.
_BASE64 = "[A-Za-z0-9+/=%]"
_SLASH = r"(?:\\?/|%2[fF])"
_NO_MORE = r"(?![A-Za-z0-9_-])"
UUID = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"


@dataclass(frozen=True, slots=True)
class Format:
    """The ``look`` of credentials that are ``kind``, an expression; what may be left of one where a
    text was cut looks like ``torn``."""

    kind: str
    look: str
    source: str
    torn: str = ""


def _made(kind: str, begins: str, alphabet: str, least: int, source: str) -> Format:
    """A beginning and at least so many signs; four suffice where the text ends."""
    begins = f"(?:{begins})" if "|" in begins else begins
    return Format(kind, rf"{begins}{alphabet}{{{least},}}+", source, rf"{begins}{alphabet}{{4,}}+")


FORMATS = (
    # Accounts, clouds, hosts.
    Format("aws key", r"A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}", "gl aws-access-token"),
    _made("aws key", "ABSK", _BASE64, 100, "gl aws-amazon-bedrock-api-key-long-lived"),
    _made("aws key", "bedrock-api-key-", _BASE64, 30, "gl aws-amazon-bedrock-api-key"),
    _made("google api key", "AIza", _URL, 30, "gl gcp-api-key"),
    _made("google token", r"ya29\.", "[A-Za-z0-9_.-]", 10, "th googleoauth2"),
    # Addresses have its slashes as %2F.
    Format(
        "google token",
        rf"1{_SLASH}{_SLASH}0{_URL}{{40,}}+",
        "https://developers.google.com/identity/protocols/oauth2/web-server",
    ),
    _made("google client secret", "GOCSPX-", _URL, 24, "th googleoauth2"),
    Format("azure key", r"(?<![/+-])[A-Za-z0-9+/]{86}==(?![\w/+=-])", "ds azure_storage_key"),
    Format(
        "azure client secret",
        r"[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])",
        "gl azure-ad-client-secret",
    ),
    Format("alibaba key", rf"LTAI{WORD}{{20}}{_NO_MORE}", "gl alibaba-access-key-id"),
    _made("yandex key", "AQVN", _URL, 35, "gl yandex-api-key"),
    Format("yandex token", r"t1\.[\w-]{20,}={0,2}\.[\w-]{86}={0,2}", "gl yandex-access-token"),
    _made("digitalocean token", "do[por]_v1_", _HEX, 40, "gl digitalocean-pat"),
    _made("heroku key", "HRKU-", _URL, 40, "gl heroku-api-key-v2"),
    Format("cloudflare key", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}+", "gl cloudflare-origin-ca-key"),
    _made("cloudflare token", "cf(?:ut|at|k)_", WORD, 40, "th cloudflareapitoken/v2"),
    _made("fly.io token", "fo1_", r"[\w-]", 40, "gl flyio-access-token"),
    _made("fly.io token", "fm(?:1[ar]|2)_", r"[A-Za-z0-9+/=,_-]", 60, "gl flyio-access-token"),
    _made("databricks token", "dapi", _HEX, 32, "gl databricks-api-token"),
    _made("scalingo token", "tk-us-", r"[\w-]", 40, "gl scalingo-api-token"),
    _made("deno token", "dd[pw]_", WORD, 36, "th deno"),
    _made("supabase key", "sb(?:p|_secret)_", _URL, 20, "th supabasetoken"),
    _made("planetscale token", "pscale_(?:tkn|oauth|pw)_", "[\\w.=-]", 30, "gl planetscale-*"),
    # Not cut short: every 65,536th part of a UUID begins so.
    Format("clickhouse key", rf"4b1d{WORD}{{38}}{_NO_MORE}", "gl clickhouse-cloud-api-secret-key"),
    Format("openshift token", rf"sha256~[\w-]{{43}}{_NO_MORE}", "gl openshift-user-token"),
    _made("neon key", "napi_", _LOWER, 40, "https://neon.com/docs/manage/api-keys"),
    # Source code, builds, packages.
    _made("github token", "gh[pousr]_|github_pat_", _URL, 10, "gl github-pat, -fine-grained-pat"),
    _made(
        "gitlab token",
        "gl(?:pat|agent|cbt|dt|ffct|ft|imt|oas|ptt|rt|soat)-|GR1348941",
        "[A-Za-z0-9_.-]",
        16,
        "gl gitlab-*",
    ),
    _made("bitbucket password", "ATBB", "[A-Za-z0-9_=.-]", 24, "th bitbucketapppassword"),
    _made("bitbucket token", "BBDC-", "[A-Za-z0-9+/@_-]", 40, "th atlassiandatacenter"),
    _made("atlassian token", "ATATT3|ATCTT3", "[\\w=-]", 40, "th jiratoken/v2, atlassian/v2"),
    _made("npm token", "npm_", WORD, 30, "gl npm-access-token"),
    _made("pypi token", "pypi-", _URL, 50, "gl pypi-upload-token"),
    _made("rubygems key", "rubygems_", _HEX, 40, "gl rubygems-api-token"),
    _made("clojars token", "CLOJARS_", _LOWER, 50, "gl clojars-api-token"),
    _made("docker token", "dckr_[po]at_", _URL, 20, "th dockerhub/v2"),
    _made("artifactory key", "AKCp", WORD, 60, "gl artifactory-api-key"),
    _made("artifactory token", "cmVmd", WORD, 59, "gl artifactory-reference-token"),
    _made("buildkite token", "bkua_", _LOWER, 40, "th buildkite/v2"),
    Format("circleci token", rf"CCI(?:PAT|PRJ)_{WORD}{{22}}_{_ANY_HEX}{{40}}", "th circleci/v2"),
    Format(
        "harness key",
        rf"(?:pat|sat)\.{_URL}{{22}}\.{WORD}{{24}}\.{WORD}{{20}}{_NO_MORE}",
        "gl harness-api-key",
    ),
    Format(
        "octopus key", rf"API-(?=[A-Z]*\d)[A-Z0-9]{{26}}{_NO_MORE}", "gl octopus-deploy-api-key"
    ),
    _made("sonar token", "sq(?:u_|p_|a_)", _HEX, 40, "gl sonar-api-token"),
    _made("sonar token", "sqco_", WORD, 50, "th sonarcloud/v2"),
    _made(
        "sourcegraph token",
        rf"sgp_(?:{_ANY_HEX}{{16}}_|local_)?",
        _ANY_HEX,
        40,
        "gl sourcegraph-access-token",
    ),
    _made("sourcegraph token", "slk_", _HEX, 60, "th sourcegraphcody"),
    _made("prefect key", "pnu_", WORD, 36, "gl prefect-api-token"),
    _made("infracost key", "ico-", WORD, 32, "gl infracost-api-token"),
    _made("pulumi token", "pul-", _HEX, 40, "gl pulumi-api-token"),
    Format(
        "terraform token", rf"{WORD}{{14}}\.atlasv1\.{_URL}{{40,}}+", "gl hashicorp-tf-api-token"
    ),
    Format("launchdarkly key", rf"(?:api|sdk)-{UUID}{_NO_MORE}", "th launchdarkly"),
    # Secrets of secret stores.
    _made("vault token", r"hv[sb]\.", _URL, 20, "gl vault-service-token, vault-batch-token"),
    _made("doppler token", r"dp\.(?:ct|pt|st|sa|scim|audit)\.", "[\\w.-]", 30, "th doppler"),
    _made("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]", 40, "gl age-secret-key"),
    Format(
        "1password key",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        "gl 1password-secret-key",
    ),
    _made("1password token", "ops_eyJ", _BASE64, 100, "gl 1password-service-account"),
    _made("tailscale key", "tskey-", _URL, 16, "th tailscale"),
    _made("defined networking key", "dnkey-", r"[A-Za-z0-9=_-]", 60, "gl defined-networking"),
    # Messages, mail, telephone.
    _made("slack token", r"xox[abceoprs]-|xoxe\.|xapp-", _URL, 10, "gl slack-*"),
    Format(
        "slack webhook",
        rf"hooks\.slack\.com{_SLASH}(?:services|workflows|triggers)(?:{_SLASH}[\w-]+)+",
        "gl slack-webhook-url",
    ),
    Format(
        "discord webhook",
        rf"(?:ptb\.|canary\.)?discord(?:app)?\.com{_SLASH}api(?:{_SLASH}v\d+)?{_SLASH}webhooks{_SLASH}\d{{16,20}}"
        rf"{_SLASH}{_URL}{{20,}}+",
        "https://discord.com/developers/docs/resources/webhook",
    ),
    # It begins with the number of the bot in Base64.
    Format(
        "discord token",
        rf"[MNO]{_URL}{{23,27}}\.{_URL}{{6}}\.{_URL}{{27,}}+",
        "ds discord",
    ),
    Format(
        "teams webhook",
        rf"webhook\.office\.com{_SLASH}webhookb2{_SLASH}{UUID}(?:@|%40){UUID}{_SLASH}IncomingWebhook{_SLASH}{WORD}{{32}}"
        rf"{_SLASH}{UUID}",
        "gl microsoft-teams-webhook",
    ),
    Format(
        "telegram token",
        rf"\d{{8,10}}(?::|%3[aA])AA{_URL}{{32,34}}{_NO_MORE}",
        "gl telegram-bot-api-token",
    ),
    Format(
        "twilio key",
        rf"SK{_ANY_HEX}{{32}}{_NO_MORE}",
        "https://www.twilio.com/docs/glossary/what-is-a-sid",
    ),
    Format("sendgrid key", rf"SG\.{_URL}{{16,}}+\.{_URL}{{16,}}+", "gl sendgrid-api-token"),
    Format("mailgun key", rf"(?:pub)?key-{_HEX}{{32}}{_NO_MORE}", "gl mailgun-private-api-token"),
    Format("mailchimp key", rf"{_HEX}{{32}}-us\d{{1,2}}{_NO_MORE}", "ds mailchimp"),
    _made("brevo key", "xkeysib-", _URL, 40, "gl sendinblue-api-token"),
    _made("facebook token", "EAA[A-Z]", WORD, 90, "gl facebook-page-access-token"),
    Format(
        "facebook token", rf"\d{{15,16}}\|{_URL}{{27,40}}{_NO_MORE}", "gl facebook-access-token"
    ),
    _made("twitter token", "A{22}", "[A-Za-z0-9%]", 80, "gl twitter-bearer-token"),
    Format(
        "webex token",
        rf"{WORD}{{64}}_{WORD}{{4}}_{WORD}{{8}}(?:-{WORD}{{4}}){{3}}-{WORD}{{12}}",
        "th webexbot",
    ),
    # Money and goods.
    _made(
        "stripe webhook secret", "whsec_", "[A-Za-z0-9+/=]", 24, "https://docs.stripe.com/webhooks"
    ),
    _made("stripe key", "(?:sk|pk|rk)_(?:live|test|prod)_", "[\\w-]", 16, "gl stripe-access-token"),
    Format(
        "stripe client secret", rf"pi_{WORD}{{24}}_secret_{WORD}{{25}}", "th stripepaymentintent"
    ),
    _made("square token", "sq0(?:at|c[a-z]|i[a-z])p?-", _URL, 20, "gl square-access-token"),
    _made("square token", "EAAA", _URL, 60, "gl square-access-token"),
    Format(
        "paypal token",
        rf"access_token(?:\$|%24)(?:production|sandbox)(?:\$|%24){_LOWER}{{16}}(?:\$|%24){_HEX}{{32}}",
        "https://www.ndss-symposium.org/ndss-paper/how-bad-can-it-git-characterizing-secret-leakage-in-public-github-repositories/",
    ),
    _made("shopify token", "shp(?:at|ca|pa|ss)_", _ANY_HEX, 32, "gl shopify-*"),
    _made("shippo token", "shippo_(?:live|test)_", _ANY_HEX, 40, "gl shippo-api-token"),
    _made("easypost key", "EZ[AT]K", WORD, 54, "gl easypost-api-token"),
    _made("duffel token", "duffel_(?:test|live)_", r"[\w=-]", 43, "gl duffel-api-token"),
    _made("flutterwave key", "FLW(?:SEC|PUB)K(?:_TEST)?-", WORD, 12, "gl flutterwave-secret-key"),
    Format(
        "plaid token", rf"access-(?:sandbox|development|production)-{UUID}", "gl plaid-api-token"
    ),
    Format(
        "lob key", rf"(?:live|test)_(?:pub_{_HEX}{{31}}|{_HEX}{{35}}){_NO_MORE}", "gl lob-api-key"
    ),
    Format("gocardless token", rf"live_{_URL}{{40}}{_NO_MORE}", "gl gocardless-api-token"),
    _made("razorpay key", "rzp_live_", WORD, 14, "th razorpay"),
    _made("pagarme key", "ak_live_", WORD, 30, "th pagarme"),
    _made("ramp secret", "ramp_sec_", WORD, 48, "th ramp"),
    Format("coinbase key name", rf"organizations\\?/{UUID}\\?/apiKeys\\?/{UUID}", "th coinbase"),
    Format("robinhood key", rf"rh-api-{UUID}", "th robinhoodcrypto"),
    # Models.
    _made("anthropic key", "sk-ant-", _URL, 12, "gl anthropic-api-key"),
    _made("hugging face token", "hf_|api_org_", WORD, 30, "gl huggingface-access-token"),
    _made("groq key", "gsk_", WORD, 40, "th groq"),
    Format("cerebras key", rf"csk-{_LOWER}{{48}}{_NO_MORE}", "betterleaks cerebras-api-key"),
    Format("firecrawl key", rf"fc-{_HEX}{{32}}{_NO_MORE}", "https://docs.firecrawl.dev"),
    _made("replicate token", "r8_", _URL, 30, "th replicate"),
    _made("nvidia key", "nvapi-", _URL, 30, "th nvapi"),
    _made("perplexity key", "pplx-", WORD, 30, "gl perplexity-api-key"),
    _made("xai key", "xai-", r"\w", 40, "th xai"),
    Format("pinecone key", rf"pcsk_{WORD}{{5,6}}_{WORD}{{40,}}+", "th pinecone"),
    Format("langsmith key", rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}", "th langsmith"),
    _made("elevenlabs key", "sk_", _HEX, 48, "th elevenlabs/v2"),
    _made("salad key", rf"salad_cloud_{WORD}{{1,7}}_", WORD, 20, "th saladcloudapikey"),
    Format("voiceflow key", rf"VF\.(?:DM\.|WS\.)?{_ANY_HEX}{{24}}\.{WORD}{{16}}", "th voiceflow"),
    # What OpenAI began, and many took over. Names of things begin like this too, but they seldom
    # have digits, and those of ciphers are in small letters.
    Format(
        "api key", rf"sk-(?!ecdsa|ssh)(?=[A-Za-z_-]{{0,64}}\d){_URL}{{16,}}+", "gl openai-api-key"
    ),
    Format(
        "api key",
        rf"[spr]k[-_](?:{WORD}{{1,40}}[-_]){{0,3}}(?=[A-Za-z]{{0,64}}\d){WORD}{{16,}}+"
        r"(?>(?:[-_][A-Za-z0-9]+)*)",
        "th openrouter, klaviyo",
    ),
    # Watching, measuring, tables, documents.
    _made("grafana token", "glsa_|glc_", "[\\w+/=%]", 30, "gl grafana-cloud-api-token"),
    _made("grafana key", "eyJrIjoi", "[A-Za-z0-9+/=]", 60, "gl grafana-api-key"),
    _made("sentry token", "sntry[su]_", "[\\w+/=-]", 20, "gl sentry-org-token, sentry-user-token"),
    _made("new relic key", "NR(?:AK|II|IQ|JS|BR|RA)-", "[A-Za-z0-9_-]", 19, "th newrelic*"),
    Format(
        "new relic key", rf"(?:{_HEX}{{32}}|eu01xx{_HEX}{{26}})FFFFNRAL", "th newreliclicensekey"
    ),
    Format(
        "dynatrace token", rf"dt0[a-z]\d\d\.{WORD}{{24}}\.{WORD}{{64}}", "gl dynatrace-api-token"
    ),
    _made("posthog key", "phx_", r"\w", 40, "th posthog"),
    _made("rootly token", "rootly_", _HEX, 60, "th rootly"),
    _made("adafruit key", "aio_", WORD, 28, "th adafruitio"),
    _made("apify token", "apify_api_", WORD, 30, "th apify"),
    Format(
        "airtable token", rf"pat{WORD}{{14}}\.{_HEX}{{64}}", "gl airtable-personnal-access-token"
    ),
    _made("contentful token", "CFPAT-", _URL, 40, "th contentfulpersonalaccesstoken"),
    _made("linear key", "lin_(?:api|oauth)_", WORD, 30, "gl linear-api-key"),
    _made("figma token", "fig[dupo]_", "[\\w=-]", 30, "th figmapersonalaccesstoken"),
    _made("notion token", "ntn_", WORD, 30, "gl notion-api-token"),
    _made("notion token", "secret_", WORD, 43, "th notion"),
    _made("readme key", "rdme_", _LOWER, 60, "gl readme-api-token"),
    _made("typeform token", "tfp_", r"[\w.=-]", 40, "gl typeform-api-token"),
    _made("postman key", "PMAK-", "[0-9a-zA-Z-]", 50, "gl postman-api-token"),
    _made("frame.io token", "fio-u-", r"[\w=-]", 60, "gl frameio-api-token"),
    _made("adobe client secret", "p8e-", WORD, 32, "gl adobe-client-secret"),
    Format("dropbox token", r"sl\.(?:u\.)?[\w=-]{100,}+", "gl dropbox-short-lived-api-token"),
    Format("maxmind key", rf"{WORD}{{6}}_{WORD}{{29}}_mmk{_NO_MORE}", "gl maxmind-license-key"),
    Format("hubspot token", rf"pat-(?:eu|na)\d-{UUID}", "th hubspot_apikey/v2"),
    _made("intra42 secret", "s-s4t2(?:ud|af)-", _HEX, 64, "gl intra42-client-secret"),
    Format("mapbox token", rf"sk\.[A-Za-z0-9]{{40,}}+\.{_URL}{{20,}}+", "th mapbox"),
    Format("pubnub key", rf"(?:pub|sub)-c-{UUID}", "th pubnub*"),
    _made("settlemint token", "sm_[aps]at_", WORD, 16, "gl settlemint-*"),
    _made("ubidots token", "BBFF-", WORD, 30, "th ubidots"),
    _made("flexport token", "shltm_", _URL, 40, "th flexport"),
    _made("bannerbear key", "bb_(?:pr|ma)_", _HEX, 30, "th bannerbear/v2"),
    Format("zoho token", rf"1000\.{_HEX}{{32}}\.{_HEX}{{32}}", "th zohocrm"),
    Format("salesforce token", rf"00{WORD}{{13}}![\w.]{{60,}}+", "th salesforce"),
    _made("salesforce token", "5AEP861", "[A-Za-z0-9._=]", 60, "th salesforcerefreshtoken"),
    Format(
        "authress key",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}"
        r"\.[\w+/=-]{30,120}",
        "gl authress-service-client-access-key",
    ),
)
