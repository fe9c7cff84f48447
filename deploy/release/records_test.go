package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
	"google.golang.org/protobuf/encoding/protojson"
)

// sumInGoSum returns the h1 hash of the version of a module in go.sum, in hexadecimal.
func sumInGoSum(t *testing.T, path, version string) string {
	t.Helper()
	content, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut("\n"+string(content), "\n"+path+" "+version+" ")
	if !ok {
		t.Fatalf("go.sum does not have %s %s", path, version)
	}
	var m module
	h1, _, _ := strings.Cut(rest, "\n")
	if m, err = moduleOf(&debug.Module{Path: path, Version: version, Sum: h1}); err != nil {
		t.Fatal(err)
	}
	return m.h1
}

func TestRecords(t *testing.T) {
	r := example(t)
	all := made(t, r)
	t.Run("the SBOM of each program is valid and has its modules", func(t *testing.T) { theSBOMOfEachProgramIsValidAndHasItsModules(t, r, all) })
	t.Run("the provenance is valid and has every file and module", func(t *testing.T) { theProvenanceIsValidAndHasEveryFileAndModule(t, r, all) })
	t.Run("the provenance does not claim a tag for a checkout", theProvenanceDoesNotClaimATagForACheckout)
}

func theSBOMOfEachProgramIsValidAndHasItsModules(t *testing.T, r *release, all map[string][]byte) {
	test, err := os.ReadFile(r.program("resizectl", "linux/amd64"))
	if err != nil {
		t.Fatal(err)
	}
	from, err := inspected(r.program("resizectl", "linux/amd64"))
	if err != nil || len(from.modules) < 5 {
		t.Fatalf("%d modules, %v", len(from.modules), err)
	}
	for _, name := range []string{
		"resizectl_v1.2.3_linux_amd64", "resizectl_v1.2.3_linux_arm64", "resizectl_v1.2.3_darwin_amd64", "resizectl_v1.2.3_darwin_arm64",
		"workload-resizer_v1.2.3_linux_amd64", "workload-resizer_v1.2.3_linux_arm64",
	} {
		document, err := spdxjson.Read(bytes.NewReader(all[name+".spdx.json"]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := spdxlib.ValidateDocument(document); err != nil {
			t.Error(err)
		}
		if document.SPDXVersion != "SPDX-2.3" || document.DocumentName != name || document.CreationInfo.Created != "2023-11-14T22:13:20Z" {
			t.Errorf("%s: %s %s %s", name, document.SPDXVersion, document.DocumentName, document.CreationInfo.Created)
		}
		versions, sums := map[string]string{}, map[string]string{}
		for _, p := range document.Packages {
			versions[p.PackageName] = p.PackageVersion
			for _, sum := range p.PackageChecksums {
				sums[p.PackageName] = sum.Value
			}
		}
		program, _, _ := strings.Cut(name, "_")
		if versions[program] != "v1.2.3" || sums[program] != sumOf(test) {
			t.Errorf("%s: the program is %s with the checksum %s", name, versions[program], sums[program])
		}
		if "go"+versions["stdlib"] != runtime.Version() {
			t.Errorf("%s: the standard library is %q", name, versions["stdlib"])
		}
		for _, m := range from.modules {
			if versions[m.path] != m.version || sums[m.path] != sumInGoSum(t, m.path, m.version) {
				t.Errorf("%s: %s is %s with the checksum %s", name, m.path, versions[m.path], sums[m.path])
			}
		}
		if want := len(from.modules) + 2; len(document.Packages) != want || len(document.Relationships) != want {
			t.Errorf("%s: %d packages and %d relationships, want %d", name, len(document.Packages), len(document.Relationships), want)
		}
	}
}

// attested returns the statement of a release, checked by the module of in-toto.
func attested(t *testing.T, content []byte) (*intoto.Statement, *slsa.Provenance) {
	t.Helper()
	statement, provenance := &intoto.Statement{}, &slsa.Provenance{}
	if err := protojson.Unmarshal(content, statement); err != nil {
		t.Fatal(err)
	}
	if err := statement.Validate(); err != nil {
		t.Error(err)
	}
	if statement.GetPredicateType() != "https://slsa.dev/provenance/v1" {
		t.Errorf("the predicate is %s", statement.GetPredicateType())
	}
	predicate, err := statement.GetPredicate().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(predicate, provenance); err != nil {
		t.Fatal(err)
	}
	if err := provenance.Validate(); err != nil {
		t.Error(err)
	}
	return statement, provenance
}

func theProvenanceIsValidAndHasEveryFileAndModule(t *testing.T, r *release, all map[string][]byte) {
	statement, provenance := attested(t, all["provenance.intoto.json"])
	for _, subject := range statement.GetSubject() {
		if content, ok := all[subject.GetName()]; !ok || subject.GetDigest()["sha256"] != sumOf(content) {
			t.Errorf("%s has another checksum: %v", subject.GetName(), subject.GetDigest())
		}
	}
	// All files except the provenance and the checksums.
	if want := len(all) - 2; len(statement.GetSubject()) != want {
		t.Errorf("%d subjects, want %d", len(statement.GetSubject()), want)
	}
	from, err := inspected(r.program("resizectl", "linux/amd64"))
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]map[string]string{}
	for _, d := range provenance.GetBuildDefinition().GetResolvedDependencies() {
		digests[d.GetUri()] = d.GetDigest()
	}
	if got := digests["git+https://github.com/workload-resizer/workload-resizer@refs/tags/v1.2.3"]["gitCommit"]; got != commit {
		t.Errorf("the commit is %q", got)
	}
	for _, m := range from.modules {
		if digests[m.purl()]["dirHash"] != m.h1 {
			t.Errorf("%s has %v", m.purl(), digests[m.purl()])
		}
	}
	if version := provenance.GetRunDetails().GetBuilder().GetVersion()["go"]; "go"+version != runtime.Version() {
		t.Errorf("the version of Go is %q", version)
	}
}

func theProvenanceDoesNotClaimATagForACheckout(t *testing.T) {
	for version, want := range map[string]struct {
		ref   string
		dirty bool
	}{
		"v1.2.3":                       {ref: "@refs/tags/v1.2.3"},
		"v1.2.3-rc.1":                  {ref: "@refs/tags/v1.2.3-rc.1"},
		"v1.2.3-4-g0123456789ab":       {},
		"v0.0.0-g0123456789ab":         {},
		"v1.2.3-dirty":                 {dirty: true},
		"v1.2.3-4-g0123456789ab-dirty": {dirty: true},
	} {
		r := example(t)
		r.version = version
		if err := r.writeProvenance(); err != nil {
			t.Fatal(err)
		}
		var got statement
		if err := json.Unmarshal(filesIn(t, r.output)["provenance.intoto.json"], &got); err != nil {
			t.Fatal(err)
		}
		source := got.Predicate.BuildDefinition.ResolvedDependencies[0]
		if source.URI != "git+"+repository+want.ref || (source.Annotations["uncommittedChanges"] == true) != want.dirty {
			t.Errorf("%s: %+v", version, source)
		}
	}
}
