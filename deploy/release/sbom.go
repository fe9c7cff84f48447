package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// writeSBOMs writes the software bill of materials of each program.
func (r *release) writeSBOMs() error {
	for _, platform := range r.platforms {
		for _, program := range programsOn(platform) {
			document, err := r.sbom(program, platform)
			if err != nil {
				return err
			}
			var content bytes.Buffer
			if err := json.Write(document, &content, json.Indent("  ")); err != nil {
				return err
			}
			if err := r.add(document.DocumentName+".spdx.json", content.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// sbom returns the modules that a program contains, as an SPDX document.
func (r *release) sbom(program, platform string) (*spdx.Document, error) {
	path := r.program(program, platform)
	from, err := inspected(path)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(content)
	sum := hex.EncodeToString(digest[:])
	name := fmt.Sprintf("%s_%s_%s", program, r.version, strings.ReplaceAll(platform, "/", "_"))
	own := component("Program", program, r.version, module{path: strings.TrimPrefix(repository, "https://"), version: r.version}.purl())
	own.PackageFileName = program
	own.PackageDownloadLocation = "git+" + repository + "@" + r.commit
	own.PackageLicenseDeclared = "Apache-2.0"
	own.PrimaryPackagePurpose = "APPLICATION"
	own.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: sum}}
	packages := []*spdx.Package{own, component("Go", "stdlib", from.goVersion, module{path: "stdlib", version: from.goVersion}.purl())}
	for i, m := range from.modules {
		p := component(common.ElementID(fmt.Sprintf("Module-%d", i+1)), m.path, m.version, m.purl())
		// Like other tools, this gives the hash of go.sum as the SHA-256 of the module.
		p.PackageSourceInfo = "the checksum is the h1 hash of go.sum, a SHA-256 of the module's list of files"
		p.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: m.h1}}
		packages = append(packages, p)
	}
	document := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: name,
		// Each document needs a namespace of its own, even those of other builds of a version.
		DocumentNamespace: r.download(name+".spdx.json") + "?sha256=" + sum,
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "workload-resizer-release-" + r.version}},
			Created:  r.created.Format(time.RFC3339),
		},
		Packages:      packages,
		Relationships: []*spdx.Relationship{related("DOCUMENT", common.TypeRelationshipDescribe, own)},
	}
	for _, p := range packages[1:] {
		document.Relationships = append(document.Relationships, related(own.PackageSPDXIdentifier, common.TypeRelationshipDependsOn, p))
	}
	return document, nil
}

func component(id common.ElementID, name, version, purl string) *spdx.Package {
	return &spdx.Package{
		PackageName: name, PackageSPDXIdentifier: id, PackageVersion: version,
		PackageDownloadLocation: "NOASSERTION", PackageLicenseConcluded: "NOASSERTION",
		PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION",
		PackageExternalReferences: []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl}},
	}
}

func related(from common.ElementID, kind string, to *spdx.Package) *spdx.Relationship {
	return &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(from)), Relationship: kind,
		RefB: common.MakeDocElementID("", string(to.PackageSPDXIdentifier)),
	}
}
