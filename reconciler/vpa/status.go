package vpa

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Status is the status of an object, as its recommender writes it.
type Status struct {
	// Containers are ordered by name.
	Containers []Recommended
	Conditions []Condition
	// Generation is the generation of the object that the status is for.
	Generation int64
}

// Recommended is what a container needs on the baseline, in millicores and bytes. An amount of 0 is not recommended.
type Recommended struct {
	Name string
	// Target is between Lower and Upper, and Uncapped is the target without the bounds of anybody.
	Target, Lower, Upper, Uncapped Amounts
}

// Amounts are an amount of each resource, by sizing.Measure.Index.
type Amounts [len(sizing.Measures)]int64

// Condition is a condition in a status.
type Condition struct {
	Type    string      `json:"type"`
	Status  string      `json:"status"`
	Changed metav1.Time `json:"lastTransitionTime"`
	Reason  string      `json:"reason,omitempty"`
	Message string      `json:"message,omitempty"`
}

// The types of conditions, as the VerticalPodAutoscaler's recommender has them.
const (
	RecommendationProvided = "RecommendationProvided"
	ConfigUnsupported      = "ConfigUnsupported"
	NoPodsMatched          = "NoPodsMatched"
)

// Found is what the target of an object has.
type Found struct {
	// Fault is why the object counts for nothing; nil if it counts.
	Fault *Fault
	// Pods reports whether any pod belongs to the target.
	Pods bool
	// Baseline is the node type that the recommendations are for.
	Baseline string
	// Containers are what the containers of the target need; those that are not known are missing.
	Containers []Recommended
}

// Add adds what a container needs. Of several with its name, the most counts.
func (f *Found) Add(c Recommended) {
	i, found := slices.BinarySearchFunc(f.Containers, c.Name, func(c Recommended, name string) int { return cmp.Compare(c.Name, name) })
	if !found {
		f.Containers = slices.Insert(f.Containers, i, c)
		return
	}
	of := &f.Containers[i]
	for _, m := range sizing.Measures {
		i := m.Index
		of.Target[i], of.Lower[i] = max(of.Target[i], c.Target[i]), max(of.Lower[i], c.Lower[i])
		of.Upper[i], of.Uncapped[i] = max(of.Upper[i], c.Upper[i]), max(of.Uncapped[i], c.Uncapped[i])
	}
}

// StatusFor returns the status that an object should have, given what its target has.
func (o *Object) StatusFor(found *Found, now time.Time) Status {
	s := Status{Containers: o.Status.Containers, Generation: o.meta.Generation}
	provided := Condition{Type: RecommendationProvided, Status: "False"}
	fault, known := found.Fault, found.Containers
	if fault == nil && len(known) == 0 {
		known = o.stillFollows() // After a start, the history may not be read yet.
	}
	switch {
	case fault != nil:
		// The last recommendation stays, unless the updater of the VerticalPodAutoscaler would follow it.
		if fault.Reason == NotOff || fault.Reason == Boosts {
			s.Containers = nil
		}
		provided.Reason, provided.Message = fault.Reason, "Nothing is recommended or resized because of this object"
	case len(known) == 0:
		s.Containers = nil
		provided.Reason, provided.Message = "NoHistory", "No usage of the containers is known yet"
	default:
		s.Containers = known
		provided.Status, provided.Reason, provided.Message = "True", "Observed", "Amounts are for the node type "+found.Baseline+"; pods are not resized"
		if o.Policy.Applies() {
			provided.Reason, provided.Message = "Applied", "Amounts are for the node type "+found.Baseline+"; the sizes of pods follow"
		}
		if len(o.Policy.Ignored) > 0 {
			provided.Message += "; without effect: " + strings.Join(o.Policy.Ignored, ", ")
		}
	}
	s.Conditions = append(s.Conditions, provided)
	if fault != nil {
		s.Conditions = append(s.Conditions, Condition{Type: ConfigUnsupported, Status: "True", Reason: fault.Reason, Message: fault.Message})
	}
	if !found.Pods {
		s.Conditions = append(s.Conditions, Condition{Type: NoPodsMatched, Status: "True", Reason: "NoPods",
			Message: fmt.Sprintf("No pod belongs to %s %s; its history is kept", o.Target.Kind, o.Target.Name)})
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.Changed = metav1.NewTime(now.Truncate(time.Second))
		for _, before := range o.Status.Conditions {
			if before.Type == c.Type && before.Status == c.Status {
				c.Changed = before.Changed
			}
		}
	}
	return s
}

// stillFollows returns what is recommended of those resources that still follow usage.
func (o *Object) stillFollows() (all []Recommended) {
	for _, c := range o.Status.Containers {
		if c, any := o.Policy.Only(c); any {
			all = append(all, c)
		}
	}
	return all
}

// Only returns what is recommended of the resources that follow usage, and whether that is anything.
func (p *Policy) Only(all Recommended) (followed Recommended, any bool) {
	of := p.Of(all.Name)
	followed = Recommended{Name: all.Name}
	for _, m := range sizing.Measures {
		if i := m.Index; of.Follows(m) {
			followed.Target[i], followed.Lower[i], followed.Upper[i], followed.Uncapped[i] = all.Target[i], all.Lower[i], all.Upper[i], all.Uncapped[i]
			any = true
		}
	}
	return followed, any
}

// moved is by which share of an amount a recommendation must move before it is written again.
const moved = 0.05

// Differs reports whether a status says something else than another one, as far as it matters.
func (s *Status) Differs(from *Status) bool {
	return s.Generation != from.Generation || !slices.EqualFunc(s.Conditions, from.Conditions, Condition.same) ||
		!slices.EqualFunc(s.Containers, from.Containers, func(a, b Recommended) bool {
			return a.Name == b.Name && near(&a.Target, &b.Target) && near(&a.Lower, &b.Lower) && near(&a.Upper, &b.Upper)
		})
}

// same reports whether two conditions say the same. When they changed follows from that.
func (c Condition) same(o Condition) bool {
	return c.Type == o.Type && c.Status == o.Status && c.Reason == o.Reason && c.Message == o.Message
}

func near(a, b *Amounts) bool {
	for i := range a {
		if (a[i] == 0) != (b[i] == 0) || float64(max(a[i]-b[i], b[i]-a[i])) >= moved*float64(max(b[i], 1)) && a[i] != b[i] {
			return false
		}
	}
	return true
}

// Patch returns the merge patch that makes a status that of the object. It fails on another object of the same name, and if
// the object has changed: in another mode, the updater would follow the recommendation.
func (o *Object) Patch(s *Status) ([]byte, error) {
	status := map[string]any{"conditions": s.Conditions, "observedGeneration": s.Generation, "recommendation": nil}
	if len(s.Containers) > 0 {
		all := make([]containerStatus, 0, len(s.Containers))
		for i := range s.Containers {
			c := &s.Containers[i]
			all = append(all, containerStatus{c.Name, c.Target.texts(), c.Lower.texts(), c.Upper.texts(), c.Uncapped.texts()})
		}
		status["recommendation"] = map[string]any{"containerRecommendations": all}
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.meta.UID, "resourceVersion": o.meta.ResourceVersion}, "status": status})
}

// containerStatus is Recommended in an object.
type containerStatus struct {
	Name     string            `json:"containerName"`
	Target   map[string]string `json:"target"`
	Lower    map[string]string `json:"lowerBound"`
	Upper    map[string]string `json:"upperBound"`
	Uncapped map[string]string `json:"uncappedTarget"`
}

func (a *Amounts) texts() map[string]string {
	all := map[string]string{}
	for _, m := range sizing.Measures {
		if a[m.Index] > 0 {
			all[m.Name] = m.Text(a[m.Index])
		}
	}
	return all
}

// statusOf reads the status of an object. Fields of other types count as missing, so that they are written again.
func statusOf(o *unstructured.Unstructured) (s Status) {
	s.Generation, _, _ = unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	for _, c := range listIn(o.Object, "status", "conditions") {
		changed, _ := time.Parse(time.RFC3339, textIn(c, "lastTransitionTime"))
		s.Conditions = append(s.Conditions, Condition{
			Type: textIn(c, "type"), Status: textIn(c, "status"), Changed: metav1.NewTime(changed),
			Reason: textIn(c, "reason"), Message: textIn(c, "message"),
		})
	}
	for _, c := range listIn(o.Object, "status", "recommendation", "containerRecommendations") {
		s.Containers = append(s.Containers, Recommended{
			Name: textIn(c, "containerName"), Target: amountsIn(c, "target"), Lower: amountsIn(c, "lowerBound"),
			Upper: amountsIn(c, "upperBound"), Uncapped: amountsIn(c, "uncappedTarget"),
		})
	}
	return s
}

func amountsIn(o map[string]any, field string) (a Amounts) {
	for _, m := range sizing.Measures {
		if text, given := quantityIn(o, field, m.Name); given {
			a[m.Index], _ = m.Parse(text)
		}
	}
	return a
}
