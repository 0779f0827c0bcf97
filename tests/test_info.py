from assay import __version__


def test_a_partner_learns_what_is_running(client):
    answer = client.get("/api/v1/info")

    assert answer.status_code == 200
    info = answer.json()
    assert set(info) == {"name", "version", "apiVersion", "engines", "limits", "frameworks"}
    assert (info["name"], info["version"], info["apiVersion"]) == ("Assay", __version__, "v1")
    assert info["limits"]["jsonBytes"] == 1_048_576


def test_info_is_for_authenticated_partners_only(anonymous):
    assert anonymous.get("/api/v1/info").status_code == 401
