package hold

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

var (
	began = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	ends  = began.Add(time.Hour)
)

const written = preamble + `holds:
- allNamespaces: true
  author: ann
  expires: "2026-11-21T02:02:03Z"
  kind: Pause
  reason: 'black friday: no'
  since: "2026-11-21T01:02:03Z"
- kind: Restore
  namespace: shop
  pod: web
  since: "2026-11-21T01:02:03Z"
  uid: "1"
- kind: Pause
  namespace: warehouse
  since: "2026-11-21T01:02:03Z"
  workload:
    kind: StatefulSet
    name: stock
`

func TestFormat(t *testing.T) {
	t.Run("reads the holds that it wrote", readsTheHoldsThatItWrote)
	t.Run("accepts what users write", acceptsWhatUsersWrite)
	t.Run("accepts the example of the reference", acceptsTheExampleOfTheReference)
	t.Run("reports faults with their paths", reportsFaultsWithTheirPaths)
}

func readsTheHoldsThatItWrote(t *testing.T) {
	holds := []Hold{
		{Kind: Pause, Scope: cluster, Reason: "black friday: no", Author: "ann", Since: began, Expires: ends},
		{Kind: Restore, Scope: web, Since: began},
		{Kind: Pause, Scope: Scope{Namespace: "warehouse", Workload: safety.Workload{Kind: "StatefulSet", Name: "stock"}}, Since: began},
	}
	text, err := format([]Hold{holds[1], holds[2], holds[0]})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, string(text)); diff != "" {
		t.Error(diff)
	}
	got, err := parse(map[string]string{Key: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(holds, got); diff != "" {
		t.Error(diff)
	}
}

func acceptsWhatUsersWrite(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []Hold
	}{
		"empty text":                    {"", nil},
		"a comment":                     {"# none\n", nil},
		"no holds":                      {"holds:\n", nil},
		"an empty list":                 {preamble + "holds: []\n", nil},
		"a time without quotes":         {"holds: [{kind: Pause, namespace: shop, since: 2026-11-21T01:02:03Z}]", []Hold{{Kind: Pause, Scope: shop, Since: began}}},
		"a time in another zone":        {"holds: [{kind: Pause, namespace: shop, since: '2026-11-21T02:02:03+01:00'}]", []Hold{{Kind: Pause, Scope: shop, Since: began}}},
		"no time":                       {"holds: [{kind: Pause, namespace: shop}]", []Hold{{Kind: Pause, Scope: shop}}},
		"JSON, which is also YAML":      {`{"holds": [{"kind": "Restore", "allNamespaces": true}]}`, []Hold{{Kind: Restore, Scope: cluster}}},
		"a workload on one line":        {"holds: [{kind: Pause, namespace: shop, workload: {kind: Deployment, name: web}}]", []Hold{{Kind: Pause, Scope: webs}}},
		"two pods of the same name":     {"holds: [{kind: Pause, namespace: shop, pod: web, uid: '1'}, {kind: Pause, namespace: shop, pod: web, uid: '0'}]", []Hold{{Kind: Pause, Scope: web}, {Kind: Pause, Scope: webBefore}}},
		"both kinds of a scope":         {"holds: [{kind: Pause, namespace: shop}, {kind: Restore, namespace: shop}]", []Hold{{Kind: Pause, Scope: shop}, {Kind: Restore, Scope: shop}}},
		"an end in the past":            {"holds: [{kind: Pause, namespace: shop, expires: 2026-11-21T01:02:03Z}]", []Hold{{Kind: Pause, Scope: shop, Expires: began}}},
		"fractions of a second":         {"holds: [{kind: Pause, namespace: shop, since: '2026-11-21T01:02:03.9Z'}]", []Hold{{Kind: Pause, Scope: shop, Since: began}}},
		"the cluster as explicit scope": {"holds: [{kind: Pause, allNamespaces: true}]", []Hold{{Kind: Pause, Scope: cluster}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(map[string]string{Key: tc.text})
			if err != nil {
				t.Fatal(err)
			}
			if len(tc.want)+len(got) > 0 && !cmp.Equal(tc.want, got) {
				t.Error(cmp.Diff(tc.want, got))
			}
		})
	}
	if got, err := parse(nil); err != nil || len(got) > 0 {
		t.Errorf("without the key: %v, %v", got, err)
	}
}

func acceptsTheExampleOfTheReference(t *testing.T) {
	reference, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(reference), "```yaml\nholds:")
	example, _, _ = strings.Cut("holds:"+example, "```")
	holds, err := parse(map[string]string{Key: example})
	if err != nil || len(holds) != 3 || holds[1].Expires != ends.Add(time.Hour) {
		t.Errorf("read as %+v, %v:\n%s", holds, err, example)
	}
}

func reportsFaultsWithTheirPaths(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"invalid YAML", "holds: [", []string{"read YAML: "}},
		{"another document", "holds: []\n---\nholds: []", []string{"must be one YAML document"}},
		{"a string", "web", []string{"cannot unmarshal string"}},
		{"an unknown key", "hold: []", []string{`unknown field "hold"`}},
		{"an unknown key of a hold", "holds: [{kind: Pause, namespace: shop, names: web}]", []string{`unknown field "holds[0].names"`}},
		{"a key in the wrong case", "holds: [{Kind: Pause, namespace: shop}]", []string{`unknown field "holds[0].Kind"`}},
		{"a duplicate key", "holds: [{kind: Pause, kind: Restore, namespace: shop}]", []string{`mapping key "kind" already defined at line 1`}},
		{"no kind", "holds: [{namespace: shop}]", []string{`holds[0].kind: must be Restore or Pause, not ""`}},
		{"an unknown kind", "holds: [{kind: pause, namespace: shop}]", []string{`holds[0].kind: must be Restore or Pause, not "pause"`}},
		{"no scope", "holds: [{kind: Pause}]", []string{"holds[0].namespace: must set either a namespace or allNamespaces: true"}},
		{"the cluster and a namespace", "holds: [{kind: Pause, namespace: shop, allNamespaces: true}]", []string{"holds[0].namespace: must set either"}},
		{"a pod without a namespace", "holds: [{kind: Pause, pod: web, uid: '1'}]", []string{"holds[0].namespace: must be set for a pod"}},
		{"a pod without a uid", "holds: [{kind: Pause, namespace: shop, pod: web}]", []string{"holds[0].uid: must be set for a pod"}},
		{"a workload without a namespace", "holds: [{kind: Pause, workload: {kind: Deployment, name: web}}]", []string{"holds[0].namespace: must be set for a workload"}},
		{"an empty workload", "holds: [{kind: Pause, namespace: shop, workload: {}}]", []string{"holds[0].workload: must have a kind and a name"}},
		{"a workload without a kind", "holds: [{kind: Pause, namespace: shop, workload: {name: web}}]", []string{`holds[0].workload.kind: "" is not a kind`}},
		{"a kind in the wrong case", "holds: [{kind: Pause, namespace: shop, workload: {kind: deployment, name: web}}]", []string{`holds[0].workload.kind: "deployment" is not a kind: use a kind such as Deployment`}},
		{"a workload without a name", "holds: [{kind: Pause, namespace: shop, workload: {kind: Deployment}}]", []string{`holds[0].workload.name: "" is not a valid name of a workload`}},
		{"a workload and a pod", "holds: [{kind: Pause, namespace: shop, pod: web, uid: '1', workload: {kind: Deployment, name: web}}]", []string{"holds[0].workload: must not be set with a pod"}},
		{"a workload and the cluster", "holds: [{kind: Pause, allNamespaces: true, workload: {kind: Deployment, name: web}}]", []string{"holds[0].namespace: must set either a namespace or allNamespaces"}},
		{"a uid without a pod", "holds: [{kind: Pause, namespace: shop, uid: '1'}]", []string{"holds[0].pod: must be set with a uid"}},
		{"an invalid time", "holds: [{kind: Pause, namespace: shop, since: yesterday}]", []string{`holds[0].since: want a time such as "2026-11-21T01:02:03Z", got "yesterday"`}},
		{"an end before the start", "holds: [{kind: Pause, namespace: shop, since: 2026-11-21T01:02:03Z, expires: 2026-11-21T01:02:02Z}]", []string{"holds[0].expires: is before the start of the hold"}},
		{"a long reason", "holds: [{kind: Pause, namespace: shop, reason: " + strings.Repeat("a", maxReason+1) + "}]", []string{"holds[0].reason: is 513 bytes long, the maximum is 512"}},
		{"a duplicate hold", "holds: [{kind: Pause, namespace: shop}, {kind: Pause, namespace: shop}]", []string{"holds[1]: duplicates the pause of namespace shop in holds[0]"}},
		{"an invalid namespace", "holds: [{kind: Pause, namespace: Shop}]", []string{`holds[0].namespace: "Shop" is not a valid name of a namespace`}},
		{"several faults", "holds: [{kind: x, pod: web, since: y}, {kind: z, namespace: shop}]", []string{"holds[0].kind: ", "holds[0].since: ", "holds[0].namespace: ", "holds[1].kind: "}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parse(map[string]string{Key: tc.text})
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
	if _, err := parse(map[string]string{"holds.yml": ""}); err == nil || !strings.Contains(err.Error(), "holds.yml: unknown key, holds are in holds.yaml") {
		t.Errorf("another key: %v", err)
	}
}
