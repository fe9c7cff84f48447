package owners

import (
	"strings"
	"testing"
)

func TestParseResources(t *testing.T) {
	if all, err := ParseResources(DefaultResources); err != nil || len(all) != len(DefaultResources) || all[0].Group != "apps" || all[6].String() != "replicationcontrollers" {
		t.Errorf("%v, %v", all, err)
	}
	for name, want := range map[string]string{
		"rollouts.argoproj.io":               "",
		"secrets":                            "never read",
		"configmaps":                         "never read",
		"pods":                               "pods do not control other pods",
		"secrets.example.com":                "",
		"replicasets":                        "the API group is missing: use replicasets.apps",
		"cronjobs":                           "the API group is missing: use cronjobs.batch",
		"replicationcontrollers":             "",
		"":                                   "must be the lowercase plural",
		"Deployment":                         "must be the lowercase plural of a kind, followed by its API group, such as rollouts.argoproj.io",
		"deployments/scale.apps":             "must be the lowercase plural",
		"*.apps":                             "must be the lowercase plural",
		"deployments.v1.apps":                "must not have a version, which is discovered: use deployments.apps",
		"rollouts.v1alpha1.argoproj.io":      "must not have a version, which is discovered: use rollouts.argoproj.io",
		"rollouts.Argoproj.io":               "is not an API group",
		"vms.vcenter.example.com":            "",
		"rollouts.argoproj.io/v1alpha1":      "is not an API group",
		"deployments.apps,statefulsets.apps": "is not an API group",
		strings.Repeat("s", 64) + ".apps":    "must be the lowercase plural",
	} {
		_, err := ParseResources([]string{name})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	_, err := ParseResources([]string{"jobs.batch", "pods", "jobs.batch", "Pod"})
	if want := "\"pods\": pods do not control other pods\n\"jobs.batch\": named twice\n\"Pod\": must be the lowercase plural"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("several faults: %v", err)
	}
}
