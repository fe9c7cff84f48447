package hold

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/test/docpage"
)

var (
	began = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	ends  = began.Add(time.Hour)
)

func TestFormat(t *testing.T) {
	t.Run("reads the holds that it wrote", readsTheHoldsThatItWrote)
	t.Run("older versions read an emergency as a restore", olderVersionsReadAnEmergencyAsARestore)
	t.Run("accepts what users write", acceptsWhatUsersWrite)
	t.Run("accepts the example of the reference", acceptsTheExampleOfTheReference)
	t.Run("reports faults with their paths", reportsFaultsWithTheirPaths)
}

func readsTheHoldsThatItWrote(t *testing.T) {
	for _, tc := range []struct {
		hold      Hold
		key, text string
	}{
		{Hold{Kind: Pause, Scope: cluster, Reason: "black friday: no", Author: "ann", Since: began, Expires: ends}, "pause.cluster", `allNamespaces: true
author: ann
expires: "2026-11-21T02:02:03Z"
kind: Pause
reason: 'black friday: no'
since: "2026-11-21T01:02:03Z"
`},
		{Hold{Kind: Restore, Scope: shop}, "restore.namespace.shop", "kind: Restore\nnamespace: shop\n"},
		{Hold{Kind: Restore, Scope: cluster, Emergency: true, Since: began}, "restore.cluster", `# emergency: true
allNamespaces: true
kind: Restore
since: "2026-11-21T01:02:03Z"
`},
		{Hold{Kind: Restore, Scope: web, Since: began}, "restore.pod.shop.fbdbf2012d852a942e1b", `kind: Restore
namespace: shop
pod: web
since: "2026-11-21T01:02:03Z"
uid: "1"
`},
		{Hold{Kind: Breaker, Scope: cluster, Since: began, Reset: ends, Expires: ends}, "breaker.cluster", `allNamespaces: true
expires: "2026-11-21T02:02:03Z"
kind: Breaker
reset: "2026-11-21T02:02:03Z"
since: "2026-11-21T01:02:03Z"
`},
		{Hold{Kind: Pause, Scope: webs, Since: began}, "pause.workload.shop.1a91eda59d1ba1d38636", `kind: Pause
namespace: shop
since: "2026-11-21T01:02:03Z"
workload:
  kind: Deployment
  name: web
`},
	} {
		text, err := readable(tc.hold)
		if err != nil || text != tc.text || dataKey(tc.hold) != tc.key {
			t.Errorf("%s, %v:\n%s", dataKey(tc.hold), err, text)
		}
	}
}

// Older versions reject fields that are not in the entry of the first release.
func olderVersionsReadAnEmergencyAsARestore(t *testing.T) {
	text, err := readable(Hold{Kind: Restore, Scope: cluster, Emergency: true, Reason: "# emergency: true", Author: "ann", Since: began})
	if err != nil {
		t.Fatal(err)
	}
	var older struct {
		Kind          Kind   `json:"kind"`
		AllNamespaces bool   `json:"allNamespaces"`
		Reason        string `json:"reason"`
		Author        string `json:"author"`
		Since         string `json:"since"`
	}
	if err := document.Decode(text, &older); err != nil || older.Kind != Restore || !older.AllNamespaces || older.Author != "ann" {
		t.Errorf("read as %+v, %v:\n%s", older, err, text)
	}
	again, err := format(Hold{Kind: older.Kind, Reason: older.Reason, Author: older.Author, Since: began})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := parseHold("restore.cluster", again); err != nil || h.Emergency {
		t.Errorf("what an older version wrote is read as %+v, %v", h, err)
	}
}

func acceptsWhatUsersWrite(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want Hold
	}{
		"a time without quotes":         {"{kind: Pause, namespace: shop, since: 2026-11-21T01:02:03Z}", Hold{Kind: Pause, Scope: shop, Since: began}},
		"a time in another zone":        {"{kind: Pause, namespace: shop, since: '2026-11-21T02:02:03+01:00'}", Hold{Kind: Pause, Scope: shop, Since: began}},
		"no time":                       {"{kind: Pause, namespace: shop}", Hold{Kind: Pause, Scope: shop}},
		"JSON, which is also YAML":      {`{"kind": "Restore", "allNamespaces": true}`, Hold{Kind: Restore, Scope: cluster}},
		"a workload on one line":        {"{kind: Pause, namespace: shop, workload: {kind: Deployment, name: web}}", Hold{Kind: Pause, Scope: webs}},
		"an end in the past":            {"{kind: Pause, namespace: shop, expires: 2026-11-21T01:02:03Z}", Hold{Kind: Pause, Scope: shop, Expires: began}},
		"fractions of a second":         {"{kind: Pause, namespace: shop, since: '2026-11-21T01:02:03.9Z'}", Hold{Kind: Pause, Scope: shop, Since: began}},
		"an emergency":                  {"# emergency: true\nkind: Restore\nnamespace: shop", Hold{Kind: Restore, Scope: shop, Emergency: true}},
		"a comment elsewhere":           {"kind: Restore\n# emergency: true\nnamespace: shop", Hold{Kind: Restore, Scope: shop}},
		"the cluster as explicit scope": {"{kind: Pause, allNamespaces: true}", Hold{Kind: Pause, Scope: cluster}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseHold(dataKey(tc.want), tc.text)
			if err != nil || got != tc.want {
				t.Error(err, cmp.Diff(tc.want, got))
			}
		})
	}
}

func acceptsTheExampleOfTheReference(t *testing.T) {
	examples := docpage.Blocks(docpage.Section(t, "docs/design/storage.md", "## Holds"), "yaml")
	if len(examples) != 1 {
		t.Fatalf("%d examples, want 1", len(examples))
	}
	example := examples[0]
	var cm struct{ Data map[string]string }
	if err := yaml.Unmarshal([]byte(example), &cm); err != nil {
		t.Fatal(err)
	}
	holds, err := new(reader).read(cm.Data)
	if err != nil || len(holds) != 3 {
		t.Errorf("read as %+v, %v:\n%s", holds, err, example)
	}
}

func reportsFaultsWithTheirPaths(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"invalid YAML", "{", []string{"read YAML: "}},
		{"another document", "kind: Pause\n---\nkind: Pause", []string{"must be one YAML document"}},
		{"a string", "web", []string{"cannot unmarshal string"}},
		{"an unknown key", "holds: []", []string{`unknown field "holds"`}},
		{"an unknown key of a hold", "{kind: Pause, namespace: shop, names: web}", []string{`unknown field "names"`}},
		{"a key in the wrong case", "{Kind: Pause, namespace: shop}", []string{`unknown field "Kind"`}},
		{"a duplicate key", "{kind: Pause, kind: Restore, namespace: shop}", []string{`mapping key "kind" already defined at line 1`}},
		{"no kind", "{namespace: shop}", []string{`pause.namespace.shop: kind: must be Restore, Pause or Breaker, not ""`}},
		{"an emergency that is no restore", "# emergency: true\n{kind: Pause, namespace: shop}", []string{"pause.namespace.shop: emergency: must be set only for a Restore"}},
		{"an unknown kind", "{kind: pause, namespace: shop}", []string{`pause.namespace.shop: kind: must be Restore, Pause or Breaker, not "pause"`}},
		{"no scope", "{kind: Pause}", []string{"pause.namespace.shop: namespace: must set either a namespace or allNamespaces: true"}},
		{"the cluster and a namespace", "{kind: Pause, namespace: shop, allNamespaces: true}", []string{"pause.namespace.shop: namespace: must set either"}},
		{"a pod without a namespace", "{kind: Pause, pod: web, uid: '1'}", []string{"pause.namespace.shop: namespace: must be set for a pod"}},
		{"a pod without a uid", "{kind: Pause, namespace: shop, pod: web}", []string{"pause.namespace.shop: uid: must be set for a pod"}},
		{"a workload without a namespace", "{kind: Pause, workload: {kind: Deployment, name: web}}", []string{"pause.namespace.shop: namespace: must be set for a workload"}},
		{"an empty workload", "{kind: Pause, namespace: shop, workload: {}}", []string{"pause.namespace.shop: workload: must have a kind and a name"}},
		{"a workload without a kind", "{kind: Pause, namespace: shop, workload: {name: web}}", []string{`pause.namespace.shop: workload.kind: "" is not a kind`}},
		{"a kind in the wrong case", "{kind: Pause, namespace: shop, workload: {kind: deployment, name: web}}", []string{`pause.namespace.shop: workload.kind: "deployment" is not a kind: use a kind such as Deployment`}},
		{"a workload without a name", "{kind: Pause, namespace: shop, workload: {kind: Deployment}}", []string{`pause.namespace.shop: workload.name: "" is not a valid name of a workload`}},
		{"a workload and a pod", "{kind: Pause, namespace: shop, pod: web, uid: '1', workload: {kind: Deployment, name: web}}", []string{"pause.namespace.shop: workload: must not be set with a pod"}},
		{"a workload and the cluster", "{kind: Pause, allNamespaces: true, workload: {kind: Deployment, name: web}}", []string{"pause.namespace.shop: namespace: must set either a namespace or allNamespaces"}},
		{"a uid without a pod", "{kind: Pause, namespace: shop, uid: '1'}", []string{"pause.namespace.shop: pod: must be set with a uid"}},
		{"an invalid time", "{kind: Pause, namespace: shop, since: yesterday}", []string{`pause.namespace.shop: since: must be a time such as "2026-11-21T01:02:03Z", not "yesterday"`}},
		{"an end before the start", "{kind: Pause, namespace: shop, since: 2026-11-21T01:02:03Z, expires: 2026-11-21T01:02:02Z}", []string{"pause.namespace.shop: expires: is before the start of the hold"}},
		{"a long reason", "{kind: Pause, namespace: shop, reason: " + strings.Repeat("a", maxReason+1) + "}", []string{"pause.namespace.shop: reason: is 513 bytes long, the maximum is 512"}},
		{"an invalid namespace", "{kind: Pause, namespace: Shop}", []string{`pause.namespace.shop: namespace: "Shop" is not a valid name of a namespace`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseHold("pause.namespace.shop", tc.text)
			if err == nil {
				t.Fatalf("accepted as %v", got)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
		})
	}
	_, err := new(reader).read(map[string]string{
		"holds.yaml": "holds: []", "pause.pod.shop.web": "{kind: Pause, namespace: shop, pod: web, uid: '1'}", "pause.cluster": "{kind: x, pod: web}",
	})
	want := `holds.yaml: not the key of a hold; each hold has its own key, such as pause.cluster or pause.namespace.shop; ` +
		`pause.cluster: kind: must be Restore, Pause or Breaker, not "x"; pause.cluster: namespace: must be set for a pod; ` +
		`pause.pod.shop.web: the key of the pause of pod shop/web must be ` + dataKey(Hold{Kind: Pause, Scope: web})
	if err == nil || err.Error() != want {
		t.Errorf("several keys: %v", err)
	}
}
