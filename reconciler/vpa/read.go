package vpa

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Recommender is the name in spec.recommenders with which an object asks for recommendations.
const Recommender = contract.AppName

// off is the update mode of an object, and the mode of a container, in which nothing is sized.
const off = "Off"

// readPolicy returns the policy of an object; nil if it does not name Recommender.
func readPolicy(o *unstructured.Unstructured, sizes *safety.VPA) *Policy {
	names := recommendersOf(o)
	if !slices.Contains(names, Recommender) {
		return nil
	}
	p := &Policy{Mode: policy.Observe}
	fault := func(reason, format string, args ...any) *Policy {
		p.Fault = &Fault{reason, fmt.Sprintf(format, args...)}
		return p
	}
	if len(names) > 1 {
		return fault(SeveralRecommenders, "spec.recommenders must name %s alone", Recommender)
	}
	if mode := textIn(o.Object, "spec", "updatePolicy", "updateMode"); mode != off {
		return fault(NotOff, "spec.updatePolicy.updateMode must be Off, not %s: the updater and the admission controller of the VerticalPodAutoscaler act in any other mode", cmp.Or(mode, "unset, which means Recreate"))
	}
	if sizes.Boosts {
		return fault(Boosts, "startupBoost must not be set: the updater and the admission controller of the VerticalPodAutoscaler act on it even in the mode Off")
	}
	switch mode := o.GetAnnotations()[contract.Mode]; mode {
	case "", policy.Observe:
	case policy.Apply:
		p.Mode = mode
	default:
		return fault(UnknownMode, "the annotation %s must be %s or %s, not %.64q", contract.Mode, policy.Observe, policy.Apply, mode)
	}
	p.readUpdates(o)
	for _, from := range policiesOf(o) {
		c, err := p.readContainer(from)
		if err != nil {
			return fault(InvalidPolicy, "the policy of container %q: %v", textIn(from, "containerName"), err)
		}
		p.Containers = append(p.Containers, c)
	}
	slices.Sort(p.Ignored)
	p.Ignored = slices.Compact(p.Ignored)
	return p
}

// recommendersOf returns the names of the recommenders.
func recommendersOf(o *unstructured.Unstructured) (names []string) {
	for _, recommender := range listIn(o.Object, "spec", "recommenders") {
		names = append(names, textIn(recommender, "name"))
	}
	return names
}

// readUpdates reads when pods are resized. Nothing is evicted, so what restricts evictions has no effect.
func (p *Policy) readUpdates(o *unstructured.Unstructured) {
	if seconds, ok, _ := unstructured.NestedInt64(o.Object, "spec", "updatePolicy", "evictAfterOOMSeconds"); ok && seconds > 0 {
		p.QuickKill = time.Duration(min(seconds, int64(math.MaxInt64/time.Second))) * time.Second
	}
	updates, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "updatePolicy")
	set, _ := updates.(map[string]any)
	p.ignore(set, "evictionRequirements", "minReplicas")
}

// ignore notes which of some fields are set.
func (p *Policy) ignore(in map[string]any, fields ...string) {
	for _, field := range fields {
		if in[field] != nil {
			p.Ignored = append(p.Ignored, field)
		}
	}
}

// limits are what happens to limits by the values of controlledValues, as in policy.DemandLimits.
var limits = map[string]string{"RequestsOnly": "keep", "RequestsAndLimits": "follow"}

// mostOOMBump is the largest oomBumpUpRatio.
const mostOOMBump = 100

// readContainer reads the policy for a container.
func (p *Policy) readContainer(from map[string]any) (c Container, err error) {
	c = Container{Name: textIn(from, "containerName"), Off: textIn(from, "mode") == off}
	if resources, given, _ := unstructured.NestedStringSlice(from, "controlledResources"); given {
		c.CPU.Left, c.Memory.Left = !slices.Contains(resources, sizing.CPU.Name), !slices.Contains(resources, sizing.Memory.Name)
	}
	c.Limit = limits[textIn(from, "controlledValues")]
	c.CPU.Bounds, c.Memory.Bounds, err = boundsOf(from)
	c.OOMBump, c.OOMMinBump = p.readKills(from, &err)
	p.ignore(from, "memoryAggregationIntervalCount", "memoryAggregationIntervalSeconds")
	return c, err
}

// boundsOf reads minAllowed and maxAllowed.
func boundsOf(from map[string]any) (cpu, memory sizing.Range, err error) {
	for _, of := range [...]struct {
		m  *sizing.Measure
		to *sizing.Range
	}{{sizing.CPU, &cpu}, {sizing.Memory, &memory}} {
		for _, end := range [...]struct {
			field string
			to    *int64
		}{{"minAllowed", &of.to.Min}, {"maxAllowed", &of.to.Max}} {
			amount, given := quantityIn(from, end.field, of.m.Name)
			if !given {
				continue
			}
			n, wrong := of.m.Parse(amount)
			if wrong != nil {
				err = errors.Join(err, fmt.Errorf("%s: %s: %w", end.field, of.m.Name, wrong))
			}
			*end.to = n
		}
		if !of.to.Valid() {
			err = errors.Join(err, fmt.Errorf("the %s in minAllowed is above maxAllowed", of.m.Name))
		}
	}
	return cpu, memory, err
}

// quantityIn returns a field that may be text or a whole number, as quantities may.
func quantityIn(o map[string]any, path ...string) (text string, given bool) {
	switch v, _, _ := unstructured.NestedFieldNoCopy(o, path...); v := v.(type) {
	case string:
		return v, true
	case int64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// readKills reads how much more than its usage a killed container gets.
func (p *Policy) readKills(from map[string]any, err *error) (ratio float64, least int64) {
	if text, given := quantityIn(from, "oomBumpUpRatio"); given {
		q, wrong := sizing.Quantity(text)
		if ratio = q.AsApproximateFloat64(); wrong != nil || !(ratio >= 1 && ratio <= mostOOMBump) {
			*err = errors.Join(*err, fmt.Errorf("oomBumpUpRatio must be from 1 to %d, not %.64q", mostOOMBump, text))
		}
	}
	if text, given := quantityIn(from, "oomMinBumpUp"); given {
		var wrong error
		if least, wrong = sizing.Memory.Parse(text); wrong != nil {
			*err = errors.Join(*err, fmt.Errorf("oomMinBumpUp: %w", wrong))
		}
	}
	return ratio, least
}
