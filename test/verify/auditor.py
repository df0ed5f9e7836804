"""A second verifier, from ledger/FORMAT.md alone, with nothing but Python's standard library: rows,
MACs, links, heads under checkpoints, the chain of records. Arguments: an unpacked export, and the
tenant's HMAC secret. Prints what it counted; any difference is an exception."""
import base64, hashlib, hmac, json, pathlib, sys

root, secret = pathlib.Path(sys.argv[1]), sys.argv[2]
ZERO = "0" * 64


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha(data):
    return hashlib.sha256(data).hexdigest()


def hkdf(key, info):
    extracted = hmac.new(b"\0" * 32, key, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\1", hashlib.sha256).digest()


def fold(leaf, index, size, proof):
    """RFC 9162, 2.1.3.2."""
    node, last = index, size - 1
    for sibling in proof:
        assert last != 0
        if node % 2 or node == last:
            leaf = hashlib.sha256(b"\1" + sibling + leaf).digest()
            while node % 2 == 0 and node:
                node, last = node >> 1, last >> 1
        else:
            leaf = hashlib.sha256(b"\1" + leaf + sibling).digest()
        node, last = node >> 1, last >> 1
    assert last == 0
    return leaf


prev, keys = ZERO, 0
for line in (root / "keys.txt").read_text().splitlines():
    record = line.split(" ", 1)[1]
    members = json.loads(record)
    assert canonical(members) == record.encode() and members["prev"] == prev
    prev, keys = sha(record.encode()), keys + 1

prev, checkpoints, latest = ZERO, 0, None
for path in sorted((root / "checkpoints").glob("*.json")):
    data = path.read_bytes()
    latest = json.loads(data)
    assert canonical(latest) == data and latest["prev"] == prev
    prev, checkpoints = sha(data), checkpoints + 1
    note = path.with_suffix(".note").read_text().splitlines()
    assert note[1] == str(latest["tree_size"]) and note[3].endswith(" " + prev)
    assert base64.b64decode(note[2]).hex() == latest["tree_root"]

key = hkdf(secret.encode(), b"svc/audit-chain/v1")
rows = leaves = 0
for heads in sorted((root / "heads").glob("*.jsonl")):
    app = heads.stem
    head, *claims = [json.loads(line) for line in heads.read_text().splitlines()]
    covered = {claim["height"]: claim for claim in claims}
    prev, mac, seq = ZERO, b"\0" * 32, 0
    for path in sorted((root / "rows" / app).glob("*.txt")):
        for line in path.read_text().splitlines():
            row_hash, row_mac, body = line.split(" ", 2)
            row, seq = json.loads(body), seq + 1
            assert canonical(row) == body.encode() and sha(body.encode()) == row_hash
            assert row["seq"] == seq and row["prev_hash"] == prev and row["app_id"] == app
            mac = hmac.new(key, mac + bytes.fromhex(row_hash), hashlib.sha256).digest()
            assert mac.hex() == row_mac
            prev, rows = row_hash, rows + 1
            if seq in covered:
                claim = covered[seq]
                tenant = head["tenant_id"]
                leaf = canonical({"app_id": app, "head_hash": row_hash, "height": seq, "tenant_id": tenant})
                proof = [base64.b64decode(each) for each in claim["proof"]]
                top = fold(hashlib.sha256(b"\0" + leaf).digest(), claim["leaf"], latest["tree_size"], proof)
                assert top.hex() == latest["tree_root"]
                leaves += 1
    assert head["head_hash"] == prev and head["height"] == seq

manifest = json.loads((root / "manifest.json").read_bytes())
assert canonical(manifest) == (root / "manifest.json").read_bytes()
for entry in manifest["files"]:
    data = (root / entry["name"]).read_bytes()
    assert len(data) == entry["size"]
    if "sha256" in entry:
        assert sha(data) == entry["sha256"]
print(keys, checkpoints, rows, leaves)
