import json
import time
import urllib.error
import urllib.parse
import urllib.request


def live_logins(helix_url, token, attempts=3):
    """Logins of all live channels, the largest first. Waits and asks again while the server is busy."""
    logins, cursor = [], None
    while True:
        page = _get(f"{helix_url}/streams", {"first": 100, "after": cursor}, token, attempts)
        logins += [stream["user_login"] for stream in page["data"]]
        cursor = page["pagination"].get("cursor")
        if cursor is None:
            return logins


def _get(url, parameters, token, attempts):
    query = urllib.parse.urlencode({name: value for name, value in parameters.items() if value is not None})
    request = urllib.request.Request(f"{url}?{query}", headers={"Authorization": f"Bearer {token}"})
    for attempt in range(1, attempts + 1):
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or attempt == attempts:
                raise
            time.sleep(0.1 * 2**attempt)
