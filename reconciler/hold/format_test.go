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
	t.Run("holds are read as they were written", holdsAreReadAsTheyWereWritten)
	t.Run("what people write is accepted", whatPeopleWriteIsAccepted)
	t.Run("the example of the reference is accepted", theExampleOfTheReferenceIsAccepted)
	t.Run("what is wrong is named with its path", whatIsWrongIsNamedWithItsPath)
}

func holdsAreReadAsTheyWereWritten(t *testing.T) {
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

func whatPeopleWriteIsAccepted(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []Hold
	}{
		"nothing":                       {"", nil},
		"a comment":                     {"# none\n", nil},
		"no holds":                      {"holds:\n", nil},
		"an empty list":                 {preamble + "holds: []\n", nil},
		"a time without quotes":         {"holds: [{kind: Pause, namespace: shop, since: 2026-11-21T01:02:03Z}]", []Hold{{Kind: Pause, Scope: shop, Since: began}}},
		"a time of another zone":        {"holds: [{kind: Pause, namespace: shop, since: '2026-11-21T02:02:03+01:00'}]", []Hold{{Kind: Pause, Scope: shop, Since: began}}},
		"no time":                       {"holds: [{kind: Pause, namespace: shop}]", []Hold{{Kind: Pause, Scope: shop}}},
		"JSON, which is YAML too":       {`{"holds": [{"kind": "Restore", "allNamespaces": true}]}`, []Hold{{Kind: Restore, Scope: cluster}}},
		"a workload on one line":        {"holds: [{kind: Pause, namespace: shop, workload: {kind: Deployment, name: web}}]", []Hold{{Kind: Pause, Scope: webs}}},
		"two pods of one name":          {"holds: [{kind: Pause, namespace: shop, pod: web, uid: '1'}, {kind: Pause, namespace: shop, pod: web, uid: '0'}]", []Hold{{Kind: Pause, Scope: web}, {Kind: Pause, Scope: webBefore}}},
		"both kinds of a scope":         {"holds: [{kind: Pause, namespace: shop}, {kind: Restore, namespace: shop}]", []Hold{{Kind: Pause, Scope: shop}, {Kind: Restore, Scope: shop}}},
		"an end that has gone by":       {"holds: [{kind: Pause, namespace: shop, expires: 2026-11-21T01:02:03Z}]", []Hold{{Kind: Pause, Scope: shop, Expires: began}}},
		"fractions of a second":         {"holds: [{kind: Pause, namespace: shop, since: '2026-11-21T01:02:03.9Z'}]", []Hold{{Kind: Pause, Scope: shop, Since: began}}},
		"the cluster, in so many words": {"holds: [{kind: Pause, allNamespaces: true}]", []Hold{{Kind: Pause, Scope: cluster}}},
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
		t.Errorf("without a key: %v, %v", got, err)
	}
}

func theExampleOfTheReferenceIsAccepted(t *testing.T) {
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

func whatIsWrongIsNamedWithItsPath(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"no YAML", "holds: [", []string{"read YAML: "}},
		{"another document", "holds: []\n---\nholds: []", []string{"want one YAML document"}},
		{"a text", "web", []string{"cannot unmarshal string"}},
		{"an unknown key", "hold: []", []string{`unknown field "hold"`}},
		{"an unknown key of a hold", "holds: [{kind: Pause, namespace: shop, names: web}]", []string{`unknown field "holds[0].names"`}},
		{"a key in another case", "holds: [{Kind: Pause, namespace: shop}]", []string{`unknown field "holds[0].Kind"`}},
		{"a key twice", "holds: [{kind: Pause, kind: Restore, namespace: shop}]", []string{`mapping key "kind" already defined at line 1`}},
		{"no kind", "holds: [{namespace: shop}]", []string{`holds[0].kind: must be Restore or Pause, not ""`}},
		{"an unknown kind", "holds: [{kind: pause, namespace: shop}]", []string{`holds[0].kind: must be Restore or Pause, not "pause"`}},
		{"no scope is not everything", "holds: [{kind: Pause}]", []string{"holds[0].namespace: want either a namespace or allNamespaces: true"}},
		{"everything and a namespace", "holds: [{kind: Pause, namespace: shop, allNamespaces: true}]", []string{"holds[0].namespace: want either"}},
		{"a pod without a namespace", "holds: [{kind: Pause, pod: web, uid: '1'}]", []string{"holds[0].namespace: must be set for a pod"}},
		{"a pod without a uid", "holds: [{kind: Pause, namespace: shop, pod: web}]", []string{"holds[0].uid: must be set for a pod"}},
		{"a workload without a namespace", "holds: [{kind: Pause, workload: {kind: Deployment, name: web}}]", []string{"holds[0].namespace: must be set for a workload"}},
		{"a workload that is none is not its namespace", "holds: [{kind: Pause, namespace: shop, workload: {}}]", []string{"holds[0].workload: want its kind and its name"}},
		{"a workload of no kind", "holds: [{kind: Pause, namespace: shop, workload: {name: web}}]", []string{`holds[0].workload.kind: "" is no kind`}},
		{"a kind in another case", "holds: [{kind: Pause, namespace: shop, workload: {kind: deployment, name: web}}]", []string{`holds[0].workload.kind: "deployment" is no kind: want one such as Deployment`}},
		{"a workload of no name", "holds: [{kind: Pause, namespace: shop, workload: {kind: Deployment}}]", []string{`holds[0].workload.name: "" is no name of a workload`}},
		{"a workload and a pod", "holds: [{kind: Pause, namespace: shop, pod: web, uid: '1', workload: {kind: Deployment, name: web}}]", []string{"holds[0].workload: must not be set with a pod"}},
		{"a workload and everything", "holds: [{kind: Pause, allNamespaces: true, workload: {kind: Deployment, name: web}}]", []string{"holds[0].namespace: want either a namespace or allNamespaces"}},
		{"a uid without a pod", "holds: [{kind: Pause, namespace: shop, uid: '1'}]", []string{"holds[0].pod: must be set with a uid"}},
		{"no time", "holds: [{kind: Pause, namespace: shop, since: yesterday}]", []string{`holds[0].since: want a time such as "2026-11-21T01:02:03Z", got "yesterday"`}},
		{"an end before the beginning", "holds: [{kind: Pause, namespace: shop, since: 2026-11-21T01:02:03Z, expires: 2026-11-21T01:02:02Z}]", []string{"holds[0].expires: is before it began"}},
		{"a long reason", "holds: [{kind: Pause, namespace: shop, reason: " + strings.Repeat("a", maxReason+1) + "}]", []string{"holds[0].reason: is 513 bytes long, may be 512"}},
		{"a kind of a scope twice", "holds: [{kind: Pause, namespace: shop}, {kind: Pause, namespace: shop}]", []string{"holds[1]: there is a pause of namespace shop already, holds[0]"}},
		{"a namespace that cannot be", "holds: [{kind: Pause, namespace: Shop}]", []string{`holds[0].namespace: "Shop" is no name of a namespace`}},
		{"all at once", "holds: [{kind: x, pod: web, since: y}, {kind: z, namespace: shop}]", []string{"holds[0].kind: ", "holds[0].since: ", "holds[0].namespace: ", "holds[1].kind: "}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parse(map[string]string{Key: tc.text})
			if err == nil {
				t.Fatalf("accepted as %v", got)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
	if _, err := parse(map[string]string{"holds.yml": ""}); err == nil || !strings.Contains(err.Error(), "holds.yml: unknown key, holds are in holds.yaml") {
		t.Errorf("another key: %v", err)
	}
}
