package print

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// PodName returns the name of a pod in kubectl's form.
func PodName(pod string) string { return "pod/" + pod }

// types are the kinds whose types kubectl has names for, in lower case.
var types = []string{"Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController"}

// Type returns how a kind is written in the name of a workload, so that arguments accept it: in lower
// case if kubectl has a type for it, and otherwise as in a manifest.
func Type(kind string) string {
	if slices.Contains(types, kind) {
		return strings.ToLower(kind)
	}
	return kind
}

// WorkloadName returns the name of a workload in the form of an argument, e.g. "deployment/web" or
// "Rollout/web".
func WorkloadName(w interface {
	GetKind() string
	GetName() string
}) string {
	return OneLine(Type(w.GetKind()) + "/" + w.GetName())
}

// Scope returns the name of a scope for a sentence.
func Scope(s *workloadresizerv1.HoldScope) string {
	switch scope := s.GetScope().(type) {
	case *workloadresizerv1.HoldScope_Pod:
		return "pod " + OneLine(scope.Pod.GetNamespace()+"/"+scope.Pod.GetName())
	case *workloadresizerv1.HoldScope_Workload:
		return OneLine(Type(scope.Workload.GetKind())) + " " + OneLine(scope.Workload.GetNamespace()+"/"+scope.Workload.GetName())
	case *workloadresizerv1.HoldScope_Namespace:
		return "namespace " + OneLine(scope.Namespace)
	}
	return "every pod in the cluster"
}

// ScopeNamespace returns the namespace of a scope; empty for the cluster.
func ScopeNamespace(s *workloadresizerv1.HoldScope) string {
	switch scope := s.GetScope().(type) {
	case *workloadresizerv1.HoldScope_Pod:
		return scope.Pod.GetNamespace()
	case *workloadresizerv1.HoldScope_Workload:
		return scope.Workload.GetNamespace()
	case *workloadresizerv1.HoldScope_Namespace:
		return scope.Namespace
	}
	return ""
}

// NarrowBreakers says how many breakers of namespaces and workloads are open; empty if there are none.
func NarrowBreakers(s *workloadresizerv1.GetStatusResponse) string {
	var of []string
	if n := s.GetNamespaceBreakers(); n > 0 {
		of = append(of, CountOf(n, "namespace"))
	}
	if n := s.GetWorkloadBreakers(); n > 0 {
		of = append(of, CountOf(n, "workload"))
	}
	if of == nil {
		return ""
	}
	return "the breakers of " + strings.Join(of, " and ") + " are open"
}

// HoldKind returns the kind of a hold in words.
func HoldKind(h *workloadresizerv1.Hold) string {
	if h.GetKind() == workloadresizerv1.HoldKind_HOLD_KIND_RESTORE && h.GetEmergency() {
		return "emergency restore"
	}
	return word(h.GetKind(), "HOLD_KIND_")
}

// word returns the value of an enum as a word, such as "resize" for DECISION_RESIZE. A newer server may have values that
// this version does not know.
func word(value fmt.Stringer, prefix string) string {
	name, known := strings.CutPrefix(value.String(), prefix)
	if !known || name == "UNSPECIFIED" {
		return value.String()
	}
	return strings.ToLower(name)
}

// Decision returns a decision as a word.
func Decision(d workloadresizerv1.Decision) string { return word(d, "DECISION_") }

// EntryKind returns the kind of an entry of the journal as a word.
func EntryKind(k workloadresizerv1.JournalEntryKind) string { return word(k, "JOURNAL_ENTRY_KIND_") }

// Reason returns the code of a reason, with the server's message.
func Reason(reason *workloadresizerv1.PlanReason) string {
	if reason.GetMessage() == "" {
		return OneLine(reason.GetCode())
	}
	return OneLine(reason.GetCode() + ": " + reason.GetMessage())
}

// Freeze describes a freeze, e.g. "the cluster is frozen since …, by ann: outage".
func Freeze(f *workloadresizerv1.Freeze) string {
	text := "the cluster is frozen since " + Timestamp(f.GetCreateTime())
	if f.GetAuthor() != "" {
		text += ", by " + OneLine(f.GetAuthor())
	}
	if f.GetReason() != "" {
		text += ": " + OneLine(f.GetReason())
	}
	return text
}

// Queue returns how many pods wait, and for what.
func Queue(s *workloadresizerv1.GetStatusResponse) string {
	text := fmt.Sprintf("%s to process, %s waiting for a turn", CountOf(s.GetQueueLength(), "pod"), CountOf(s.GetRealignBacklog(), "pod"))
	if n := s.GetFreedBacklog(); n > 0 {
		text += fmt.Sprintf(" (%d of them until resizes may free more: see pace.freedPerHour in the configuration)", n)
	}
	return text
}

// Range returns bounds in words, e.g. "50m to 16".
func Range(r *workloadresizerv1.QuantityRange) string {
	least, most := r.GetMin(), r.GetMax()
	switch {
	case least != "" && most != "":
		return least + " to " + most
	case least != "":
		return "at least " + least
	case most != "":
		return "at most " + most
	}
	return "unbounded"
}

// Provenance returns e.g. "configmap (kubectl, 2026-10-01T12:30:00Z: measured)".
func Provenance(from *workloadresizerv1.Provenance) string {
	var who []string
	if from.GetAuthor() != "" {
		who = append(who, OneLine(from.GetAuthor()))
	}
	if from.GetUpdateTime() != nil {
		who = append(who, Timestamp(from.GetUpdateTime()))
	}
	says := strings.Join(who, ", ")
	if from.GetReason() != "" {
		says += ": " + OneLine(from.GetReason())
	}
	if says == "" {
		return OrAbsent(OneLine(from.GetSource()))
	}
	return fmt.Sprintf("%s (%s)", OrAbsent(OneLine(from.GetSource())), says)
}

// SourceProblem returns what is wrong with a source that is not healthy, and which of its states is
// in effect instead.
func SourceProblem(source *workloadresizerv1.RatioSource) string {
	kept := "no good state yet"
	if source.GetLastGoodTime() != nil {
		kept = "its state of " + Timestamp(source.GetLastGoodTime()) + " stays in effect"
	}
	return fmt.Sprintf("source %s is not healthy: %s (%s)", OneLine(source.GetName()), OneLine(source.GetMessage()), kept)
}

// WithoutRatio returns how many pods are skipped because of the type of their nodes.
func WithoutRatio(found *workloadresizerv1.NodeTypeWithoutRatio) string {
	skipped := CountOf(found.GetPods(), "pod") + " on " + CountOf(found.GetNodes(), "node")
	if found.GetNodeType() == "" {
		return skipped + " without a label for the node type: not resized (NodeTypeUnlabelled)"
	}
	return fmt.Sprintf("%s of type %s, which has no ratio: not resized (UnknownNodeType)", skipped, OneLine(found.GetNodeType()))
}

// placeholder matches the words of a remedy that stand for a pod's own.
var placeholder = regexp.MustCompile(`\b(POD|NAMESPACE|NODE|TYPE|SCOPE)\b`)

// Remedy returns a remedy of the table of reasons for a line of output: its placeholders are
// replaced with names, as far as these are known, and commands are in quotes instead of backticks.
func Remedy(text string, names map[string]string) string {
	text = placeholder.ReplaceAllStringFunc(OneLine(text), func(word string) string {
		if name := names[word]; name != "" {
			return OneLine(name)
		}
		return word
	})
	parts := strings.Split(text, "`")
	for i := 1; i < len(parts); i += 2 {
		if strings.Contains(parts[i], " ") {
			parts[i] = `"` + parts[i] + `"`
		}
	}
	return strings.Join(parts, "")
}

// Change returns "current → desired", in the color of what that means for the node, or just
// one value if they are equal.
func Change(current, desired string) Cell {
	if current == desired {
		return Cell{Text: OrAbsent(current)}
	}
	return Cell{OrAbsent(current) + " → " + OrAbsent(desired), ChangeStyle(current, desired)}
}

// ChangeStyle returns the style of a change: less frees, more adds.
func ChangeStyle(current, desired string) Style {
	from, err := sizing.Quantity(current)
	if err != nil {
		return Plain
	}
	to, err := sizing.Quantity(desired)
	if err != nil {
		return Plain
	}
	switch from.Cmp(to) {
	case 1:
		return Freed
	case -1:
		return Added
	}
	return Plain
}

// Asked returns "request/limit" of one resource, or Absent if there is neither.
func Asked(r *workloadresizerv1.Resources, resource string) string {
	request, limit := r.GetRequests()[resource], r.GetLimits()[resource]
	if request == "" && limit == "" {
		return Absent
	}
	return OrAbsent(request) + "/" + OrAbsent(limit)
}

// FreedOrAdded returns how much requests change, e.g. "1500m freed" for "-1500m".
func FreedOrAdded(quantity string) Cell {
	amount, less := strings.CutPrefix(OneLine(quantity), "-")
	switch {
	case amount == "" || amount == "0":
		return Cell{Text: Absent}
	case less:
		return Cell{amount + " freed", Freed}
	}
	return Cell{amount + " added", Added}
}

// Demand returns what a container needs of a resource. Needs of memory follow from usage in bytes: people read whole Mi,
// rounded up.
func Demand(name, amount string) string {
	const mebibyte, most = 1 << 20, 1 << 60
	if q, err := sizing.Quantity(amount); name == "memory" && err == nil && q.CmpInt64(mebibyte) > 0 && q.CmpInt64(most) <= 0 {
		whole := (q.Value()-1)/mebibyte + 1
		amount = resource.NewQuantity(whole*mebibyte, resource.BinarySI).String()
	}
	return OrAbsent(OneLine(amount))
}

// Unbounded reports whether the upper bound of a request means any amount, because too little history is known for a lower one.
func Unbounded(name, upper string) bool {
	most := map[string]int64{"cpu": 100_000_000_000, "memory": 100_000_000_000_000}[name]
	q, err := sizing.Quantity(upper)
	return err == nil && most > 0 && q.CmpInt64(most) >= 0
}

// AnyAmount is what people read for such a bound.
const AnyAmount = "any amount"

// UsageProblem is something that is wrong with a source of usage or the storage of history.
type UsageProblem struct {
	Message string
	// Remedy is what to do about it; empty if the message says so itself, or nothing is known to help.
	Remedy string
}

// UsageProblems returns what is wrong with the sources of usage and the storage of history.
func UsageProblems(resp *workloadresizerv1.GetUsageStatusResponse) []UsageProblem {
	var found []UsageProblem
	for _, source := range resp.GetSources() {
		if message := OneLine(source.GetMessage()); message != "" {
			found = append(found, UsageProblem{"source " + OneLine(source.GetName()) + ": " + message, usageRemedy(source.GetName(), message)})
		}
	}
	if message := OneLine(resp.GetStorage().GetMessage()); message != "" {
		found = append(found, UsageProblem{"storage: " + message, usageRemedy("", message)})
	}
	return found
}

// usageRemedies are what to do about messages of the Kubernetes API and of Prometheus, by how the name of
// the source begins. Messages of our own say it themselves.
var usageRemedies = []struct{ source, contains, remedy string }{
	{"", "is forbidden", "apply the manifests of this version again: they give the server its rights (docs/tasks/install.md)"},
	{"metrics", "could not find", "install metrics-server, or start the server without metrics in --usage-sources"},
	{"metrics", "currently unable to handle the request", "see why metrics-server does not answer: kubectl describe apiservice v1beta1.metrics.k8s.io"},
	{"prometheus", "connection refused", "check that Prometheus runs, and --usage-prometheus-url of the server"},
	{"prometheus", "no such host", "check --usage-prometheus-url of the server"},
	{"prometheus", "client error: 401", "check the password in --usage-prometheus-url of the server, or its --usage-prometheus-token-file"},
	{"prometheus", "client error: 403", "check the password in --usage-prometheus-url of the server, or its --usage-prometheus-token-file"},
	{"prometheus", "unknown authority", "name the authority of its certificate with --usage-prometheus-ca-file of the server"},
}

// usageRemedy returns what to do about a message; empty if nothing is known.
func usageRemedy(source, message string) string {
	for _, r := range usageRemedies {
		if strings.HasPrefix(source, r.source) && strings.Contains(message, r.contains) {
			return r.remedy
		}
	}
	return ""
}
