package policy

import (
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Overload is when a node has a taint because it is overloaded. It has no part in the sizes.
type Overload struct {
	// Enabled means that overloaded nodes have the taint.
	Enabled bool
	// Taint is the key of the taint, and Effect its effect: PreferNoSchedule or NoSchedule.
	Taint, Effect string
	// CPU and Memory are the shares of what a node has for pods from which its usage is too high. Pressure is the
	// share of the time in which a task of the node waits for CPU (PSI), and Load its load average per vCPU. A limit of 0
	// means that the value is not checked.
	CPU, Memory, Pressure, Load float64
	// For is how long a value must be too high, or low again.
	For time.Duration
	// MaxShare is the share of the nodes that may have the taint, above 0 and at most 1.
	MaxShare float64
}

// DefaultOverloadTaint is the key of the taint of overloaded nodes, unless the configuration sets it.
const DefaultOverloadTaint = "workload-resizer.io/overloaded"

// The effects that the taint may have. With NoExecute, it would end pods.
const (
	preferNoSchedule = "PreferNoSchedule"
	noSchedule       = "NoSchedule"
)

// autoscalerPrefixes begin the keys of taints that cluster-autoscaler leaves out when it predicts what a new node will be like.
var autoscalerPrefixes = []string{"status-taint.cluster-autoscaler.kubernetes.io/", "ignore-taint.cluster-autoscaler.kubernetes.io/"}

// Forbids reports whether new pods cannot start on a node with the taint.
func (o *Overload) Forbids() bool { return o.Effect == noSchedule }

// Keys implements keys.Section.
func (o *Overload) Keys() []keys.Key {
	share := keys.Percentage("up to 1 or 100%, or 0", "must be a number from 0 to 1, such as 0.9 or 90%, where 0 means that it is not checked", keys.Within(0, 1))
	load := keys.Number("up to 100, or 0", "must be a number from 0 to 100, such as 3, where 0 means that it is not checked", keys.Within(0, 100))
	return []keys.Key{
		keys.Of("enabled", &o.Enabled, keys.Flag, false, "whether overloaded nodes get a taint, so that [new pods start elsewhere](../tasks/overloaded-nodes.md). Needs the component `overloaded-taint`. With `false`, the leader removes the taints that it finds"),
		keys.Of("cpu", &o.CPU, share, 0.9, "the share of its allocatable CPU from which the usage of a node is too high, as `kubectl top nodes` shows it. For this and the next three keys, the value must have been too high for the time of `for`, and 0 means that it is not checked"),
		keys.Of("memory", &o.Memory, share, 0.95, "the same for the working set of the node"),
		keys.Of("pressure", &o.Pressure, share, 0.6, "the share of the time in which a task waits for cpu (`some` of PSI), as the node agent `report-usage` measures it. A container that its own limit throttles waits, too, so it counts only while the load is at least 1 per vCPU"),
		keys.Of("load", &o.Load, load, 3, "the load average per vCPU, as the same node agent reads it"),
		keys.Of("for", &o.For, keys.Duration(time.Minute, time.Hour), 5*time.Minute, "how long one of these values must be too high, until the node gets the taint. It loses the taint when all of them have been more than 10% lower for as long, or when none is known for 10 minutes"),
		keys.Of("maxShare", &o.MaxShare, keys.Share, 0.2, "the share of the ready nodes that may have the taint, rounded down, but at least one node. The worst nodes get it first. With `NoSchedule`, at least one ready node does not get it"),
		keys.Of("taint", &o.Taint, taintKey, DefaultOverloadTaint, "the key of the taint. Others need [a right](../tasks/overloaded-nodes.md#another-key-or-effect), except for `status-taint.cluster-autoscaler.kubernetes.io/workload-resizer`"),
		keys.Of("effect", &o.Effect, keys.OneOf(preferNoSchedule, noSchedule), preferNoSchedule, "its effect. With `NoSchedule`, pods of DaemonSets do not start there either, and cluster-autoscaler expects the taint on new nodes, unless the key has the prefix `status-taint.cluster-autoscaler.kubernetes.io/`"),
	}
}

// taintKey is the key of a taint, with a domain. Those of Kubernetes mean something else.
var taintKey = keys.Parsed("a key with a domain", keys.Code, func(text string) (string, error) {
	domain, _, has := strings.Cut(text, "/")
	switch {
	case !has || len(validation.IsQualifiedName(text)) > 0:
		return "", errors.New("must be the key of a taint with a domain, such as " + DefaultOverloadTaint)
	case slices.Contains(autoscalerPrefixes, domain+"/"):
		return text, nil
	case isOf(domain, "kubernetes.io") || isOf(domain, "k8s.io"):
		return "", errors.New("must not be a key of Kubernetes itself, except below " + strings.Join(autoscalerPrefixes, " or "))
	}
	return text, nil
})

// isOf reports whether a domain is another one, or below it.
func isOf(domain, of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) }
