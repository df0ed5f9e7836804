// A stock C2SP verifier (golang.org/x/mod/sumdb) over an unpacked export: every checkpoint's note
// under its verifier key, every proof of consistency, every head's proof of inclusion.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must(err error) {
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
}

func read(path string) string {
	data, err := os.ReadFile(path)
	must(err)
	return string(data)
}

func hashOf(text string) (hash tlog.Hash) {
	data, err := base64.StdEncoding.DecodeString(text)
	must(err)
	copy(hash[:], data)
	return hash
}

type leaf struct {
	HeadHash string   `json:"head_hash"`
	Height   int64    `json:"height"`
	Leaf     int64    `json:"leaf"`
	Proof    []string `json:"proof"`
}

func main() {
	root := os.Args[1]
	var verifiers []note.Verifier
	for _, key := range os.Args[2:] {
		verifier, err := note.NewVerifier(key)
		must(err)
		verifiers = append(verifiers, verifier)
	}
	notes, _ := filepath.Glob(filepath.Join(root, "checkpoints", "*.note"))
	sort.Strings(notes)
	var size, consistencies, inclusions int64
	var top tlog.Hash
	for _, path := range notes {
		signed, err := note.Open([]byte(read(path)), note.VerifierList(verifiers...))
		must(err)
		lines := strings.Split(signed.Text, "\n")
		newSize, err := strconv.ParseInt(lines[1], 10, 64)
		must(err)
		newTop := hashOf(lines[2])
		proof, err := os.ReadFile(strings.TrimSuffix(path, ".note") + ".consistency")
		if err == nil {
			var hashes tlog.TreeProof
			for _, line := range strings.Fields(string(proof)) {
				hashes = append(hashes, hashOf(line))
			}
			must(tlog.CheckTree(hashes, newSize, newTop, size, top))
			consistencies++
		}
		size, top = newSize, newTop
	}
	heads, _ := filepath.Glob(filepath.Join(root, "heads", "*.jsonl"))
	for _, path := range heads {
		app := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		file, err := os.Open(path)
		must(err)
		scanner := bufio.NewScanner(file)
		scanner.Scan()
		var head struct {
			Tenant string `json:"tenant_id"`
		}
		must(json.Unmarshal(scanner.Bytes(), &head))
		for scanner.Scan() {
			var claim leaf
			must(json.Unmarshal(scanner.Bytes(), &claim))
			data := fmt.Sprintf(`{"app_id":%q,"head_hash":%q,"height":%d,"tenant_id":%q}`,
				app, claim.HeadHash, claim.Height, head.Tenant)
			var proof tlog.RecordProof
			for _, each := range claim.Proof {
				proof = append(proof, hashOf(each))
			}
			must(tlog.CheckRecord(proof, size, top, claim.Leaf, tlog.RecordHash([]byte(data))))
			inclusions++
		}
	}
	fmt.Println(len(notes), consistencies, inclusions)
}
