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
		"secrets":                            "not to be read",
		"configmaps":                         "not to be read",
		"pods":                               "pods are what is controlled",
		"secrets.example.com":                "",
		"replicasets":                        "want its API group too: replicasets.apps",
		"cronjobs":                           "want its API group too: cronjobs.batch",
		"replicationcontrollers":             "",
		"":                                   "want the plural",
		"Deployment":                         "want the plural of a kind in lower case, then its group, such as rollouts.argoproj.io",
		"deployments/scale.apps":             "want the plural",
		"*.apps":                             "want the plural",
		"deployments.v1.apps":                "want no version, it is found out: deployments.apps",
		"rollouts.v1alpha1.argoproj.io":      "want no version, it is found out: rollouts.argoproj.io",
		"rollouts.Argoproj.io":               "is no API group",
		"vms.vcenter.example.com":            "",
		"rollouts.argoproj.io/v1alpha1":      "is no API group",
		"deployments.apps,statefulsets.apps": "is no API group",
		strings.Repeat("s", 64) + ".apps":    "want the plural",
	} {
		_, err := ParseResources([]string{name})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	_, err := ParseResources([]string{"jobs.batch", "pods", "jobs.batch", "Pod"})
	if want := "\"pods\": pods are what is controlled\n\"jobs.batch\": named twice\n\"Pod\": want the plural"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("all at once: %v", err)
	}
}
