package vpa

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var now = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// needs is what the container app needs.
var needs = Recommended{Name: "app", Target: Amounts{500, 1 << 30}, Lower: Amounts{400, 1 << 29}, Upper: Amounts{600, 1 << 31}, Uncapped: Amounts{700, 1 << 30}}

// written returns an object after its status was written.
func written(t *testing.T, o *Object, s *Status) *Object {
	t.Helper()
	patch, err := o.Patch(s)
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Metadata struct{ UID string }
		Status   map[string]any
	}
	if err := json.Unmarshal(patch, &content); err != nil {
		t.Fatal(err)
	}
	if content.Metadata.UID != "u" {
		t.Errorf("the patch is for %q", content.Metadata.UID)
	}
	whole(content.Status)
	after := *o
	after.Status = statusOf(&unstructured.Unstructured{Object: map[string]any{"status": content.Status}})
	return &after
}

// says returns the conditions of a status as text.
func says(s *Status) string {
	var all []string
	for _, c := range s.Conditions {
		all = append(all, c.Type+"="+c.Status+" "+c.Reason)
	}
	return strings.Join(all, ", ")
}

func TestStatus(t *testing.T) {
	const apply = `, annotations: {workload-resizer.io/mode: apply}`
	known := Found{Pods: true, Baseline: "n2d", Containers: []Recommended{needs}}
	for _, tc := range []struct {
		name     string
		object   *Object
		found    Found
		want     string
		contains bool
	}{
		{"shows what is observed", tuning(t, "", "", ""), known, "RecommendationProvided=True Observed", true},
		{"shows what is applied", tuning(t, apply, "", ""), known, "RecommendationProvided=True Applied", true},
		{"says that nothing is known", tuning(t, apply, "", ""), Found{Pods: true}, "RecommendationProvided=False NoHistory", false},
		{"says that there are no pods", tuning(t, apply, "", ""), Found{}, "RecommendationProvided=False NoHistory, NoPodsMatched=True NoPods", false},
		{"keeps the history of pods that are gone", tuning(t, apply, "", ""), Found{Baseline: "n2d", Containers: []Recommended{needs}}, "RecommendationProvided=True Applied, NoPodsMatched=True NoPods", true},
		{"keeps what was written while nothing is known", written(t, tuning(t, apply, "", ""), &Status{Containers: []Recommended{needs}}), Found{Pods: true, Baseline: "n2d"}, "RecommendationProvided=True Applied", true},
		{"does not keep what no longer follows", written(t, tuning(t, apply, "", policies(`{containerName: app, mode: "Off"}`)), &Status{Containers: []Recommended{needs}}), Found{Pods: true}, "RecommendationProvided=False NoHistory", false},
		{"keeps what was written if it is refused", written(t, tuning(t, "", "", ""), &Status{Containers: []Recommended{needs}}), Found{Fault: &Fault{Reason: SeveralObjects}, Pods: true}, "RecommendationProvided=False SeveralObjects, ConfigUnsupported=True SeveralObjects", true},
		{"removes what others would follow", written(t, tuning(t, "", "", ""), &Status{Containers: []Recommended{needs}}), Found{Fault: &Fault{Reason: NotOff}, Pods: true}, "RecommendationProvided=False UpdateModeNotOff, ConfigUnsupported=True UpdateModeNotOff", false},
		{"removes what a boost would follow", written(t, tuning(t, "", "", ""), &Status{Containers: []Recommended{needs}}), Found{Fault: &Fault{Reason: Boosts}, Pods: true}, "RecommendationProvided=False StartupBoost, ConfigUnsupported=True StartupBoost", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := tc.object.StatusFor(&tc.found, now)
			if got := says(&s); got != tc.want || (len(s.Containers) > 0) != tc.contains {
				t.Errorf("%s with %+v; want %s", got, s.Containers, tc.want)
			}
			after := written(t, tc.object, &s)
			if again := after.StatusFor(&tc.found, now.Add(time.Hour)); again.Differs(&after.Status) || s.Differs(&after.Status) {
				t.Errorf("%+v differs from what was written, %+v", again, after.Status)
			} else if again.Conditions[0].Changed.Time != now {
				t.Errorf("the condition changed at %v", again.Conditions[0].Changed)
			}
			if s.Generation != 3 || !s.Differs(&Status{}) {
				t.Errorf("it is not written: %+v", s)
			}
		})
	}
	t.Run("names fields without effect and the baseline", func(t *testing.T) {
		s := tuning(t, "", ", minReplicas: 1", "").StatusFor(&known, now)
		if m := s.Conditions[0].Message; m != "Amounts are for the node type n2d; pods are not resized; without effect: minReplicas" {
			t.Error(m)
		}
	})
	t.Run("a condition has the time of its change", func(t *testing.T) {
		o := tuning(t, "", "", "")
		s := o.StatusFor(&Found{Pods: true}, now)
		o = written(t, o, &s)
		if s = o.StatusFor(&known, now.Add(time.Hour)); s.Conditions[0].Changed.Time != now.Add(time.Hour) {
			t.Errorf("%+v", s.Conditions)
		}
	})
}

func TestDiffers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Recommended)
		want   bool
	}{
		{"nothing moved", func(*Recommended) {}, false},
		{"the target moved a little", func(c *Recommended) { c.Target[0] = 524 }, false},
		{"the target moved", func(c *Recommended) { c.Target[0] = 525 }, true},
		{"the target fell", func(c *Recommended) { c.Target[1] -= c.Target[1] / 15 }, true},
		{"a bound moved", func(c *Recommended) { c.Upper[0] = 640 }, true},
		{"the lower bound moved", func(c *Recommended) { c.Lower[1] /= 2 }, true},
		{"only what is uncapped moved", func(c *Recommended) { c.Uncapped[0] = 5000 }, false},
		{"a resource is no longer recommended", func(c *Recommended) { c.Target[0], c.Lower[0], c.Upper[0] = 0, 0, 0 }, true},
		{"another container", func(c *Recommended) { c.Name = "other" }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := needs
			tc.change(&c)
			if got := (&Status{Containers: []Recommended{c}}).Differs(&Status{Containers: []Recommended{needs}}); got != tc.want {
				t.Errorf("differs: %v", got)
			}
		})
	}
	if !(&Status{}).Differs(&Status{Containers: []Recommended{needs}}) {
		t.Error("no containers")
	}
	a, b := Status{Conditions: []Condition{{Type: "A", Message: "x"}}}, Status{Conditions: []Condition{{Type: "A", Message: "y"}}}
	if !a.Differs(&b) {
		t.Error("another message")
	}
}

func TestFoundAdd(t *testing.T) {
	var f Found
	other := Recommended{Name: "zzz", Target: Amounts{1, 1}}
	larger := Recommended{Name: "app", Target: Amounts{600, 1}, Lower: Amounts{1, 1 << 30}, Upper: Amounts{700, 1}, Uncapped: Amounts{1, 1 << 40}}
	for _, c := range []Recommended{other, needs, larger} {
		f.Add(c)
	}
	want := Recommended{Name: "app", Target: Amounts{600, 1 << 30}, Lower: Amounts{400, 1 << 30}, Upper: Amounts{700, 1 << 31}, Uncapped: Amounts{700, 1 << 40}}
	if len(f.Containers) != 2 || f.Containers[0] != want || f.Containers[1] != other {
		t.Errorf("%+v", f.Containers)
	}
}
