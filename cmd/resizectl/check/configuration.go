package check

import (
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

const writeConfig = "write the ratios of your node types: docs/tasks/first-ratios.md"

// configuration checks the ratios: as the server uses them or, if it does not answer, the ConfigMap.
func (s *subject) configuration(ctx context.Context) []Result {
	if s.status == nil {
		return []Result{s.configMap(ctx)}
	}
	const check = "ratio-sources"
	if s.tableErr != nil {
		return []Result{failure(check, writeConfig, "there are no ratios: %s", connect.MessageOf(s.tableErr))}
	}
	found := []Result{ok("ratio-revision", "the ratios in effect have the revision %s, with %s and the baseline %s", s.table.GetRevision(), count(len(s.table.GetRatios()), "node type"), s.table.GetBaselineNodeType())}
	for _, source := range s.table.GetSources() {
		if !source.GetHealthy() {
			found = append(found, failure(check, aboutReason(contract.InvalidConfig, nil)+" (docs/reference/alerts.md#workloadresizerratiosourceunhealthy)", "%s", print.SourceProblem(source)))
			continue
		}
		found = append(found, ok(check, "source %s is healthy since %s", source.GetName(), source.GetLastGoodTime().AsTime().Format(time.RFC3339)))
	}
	for _, why := range s.implausible() {
		found = append(found, warning("implausible-ratios", aboutReason(contract.ImplausibleRatio, nil), "a ratio is not used: %s", why))
	}
	return append(found, s.demandModes()...)
}

// demandModes reports rules that want sizes from usage, and do not get them.
func (s *subject) demandModes() (found []Result) {
	const check = "demand-mode"
	switch initial := s.withMode(workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL); {
	case initial == "":
	case !s.status.GetSizesAtCreation():
		found = append(found, warning(check, "apply the component size-at-creation (docs/reference/sizes.md#at-creation), or set demand.mode to apply or observe",
			"demand.mode is initial (%s), but the server does not size pods at their creation: pods get the sizes that follow from what their authors wrote", initial))
	default:
		found = append(found, ok(check, "new pods are sized by usage: demand.mode is initial (%s)", initial))
	}
	if unused := s.unusedMode(); unused != "" {
		found = append(found, warning(check, "set demand.from to usage, or remove demand.mode (docs/tasks/size-by-usage.md)",
			"demand.mode has no effect without demand.from: usage (%s): pods get the sizes that follow from what their authors wrote", unused))
	}
	applied := s.withMode(workloadresizerv1.DemandMode_DEMAND_MODE_APPLY)
	switch {
	case applied == "":
	case client.Reason(s.usageErr) == "USAGE_DISABLED":
		found = append(found, warning(check, "name sources with the server's flag --usage-sources (docs/design/usage.md)",
			"demand.mode is apply (%s), but usage is not collected: pods get the sizes that follow from what their authors wrote", applied))
	case s.usage != nil && len(s.usage.GetSources()) == 0:
		found = append(found, warning(check, "name sources with the server's flag --usage-sources (docs/design/usage.md)",
			"demand.mode is apply (%s), but there is no source of usage: pods get the sizes that follow from what their authors wrote", applied))
	default:
		found = append(found, ok(check, "pods are resized by usage: demand.mode is apply (%s)", applied))
	}
	return found
}

// unusedMode says where the configuration has a mode without effect; empty if nowhere. A mode for all pods has an effect if
// a rule has pods sized by usage.
func (s *subject) unusedMode() string {
	const none = workloadresizerv1.DemandMode_DEMAND_MODE_UNSPECIFIED
	var where []string
	if mode := s.table.GetUnusedDemandMode(); mode != none && s.withMode(mode) == "" {
		where = append(where, "pods without a rule")
	}
	for _, rule := range s.rules.GetRules() {
		if rule.GetUnusedDemandMode() != none {
			where = append(where, rule.GetName())
		}
	}
	if len(where) == 0 {
		return ""
	}
	return some(where)
}

// withMode says where the configuration has a mode; empty if nowhere.
func (s *subject) withMode(mode workloadresizerv1.DemandMode) string {
	var where []string
	if s.table.GetDemandMode() == mode {
		where = append(where, "pods without a rule")
	}
	for _, rule := range s.rules.GetRules() {
		if rule.GetDemandMode() == mode {
			where = append(where, rule.GetName())
		}
	}
	if len(where) == 0 {
		return ""
	}
	return some(where)
}

// implausible returns why ratios are not used, globally or by rules.
func (s *subject) implausible() []string {
	var found []string
	for _, ratio := range s.table.GetRatios() {
		if ratio.GetImplausible() != "" {
			found = append(found, ratio.GetImplausible())
		}
	}
	for _, rule := range s.rules.GetRules() {
		for _, why := range rule.GetImplausible() {
			found = append(found, why)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// configMap checks the ConfigMap that a server would read.
func (s *subject) configMap(ctx context.Context) Result {
	const check = "configmap"
	key := s.configName(ctx)
	name := s.namespace + "/" + key
	cm, err := s.kube.CoreV1().ConfigMaps(s.namespace).Get(ctx, key, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return warning(check, writeConfig, "there is no ConfigMap %s yet; a server resizes nothing without it", name)
	case err != nil:
		return unknown(check, "the ConfigMap "+name, err)
	}
	types, rules, err := config.Validate([]byte(cm.Data[config.FileName]))
	if err != nil {
		return failure(check, "correct it; it is checked by: kubectl -n "+s.namespace+" get configmap "+key+" -o yaml | resizectl config validate -f -", "ConfigMap %s is invalid: %v", name, err)
	}
	return ok(check, "ConfigMap %s is valid, with %s and %s", name, count(types, "node type"), count(rules, "rule"))
}

// configName returns the name of the ConfigMap with the ratios, which the chart can change: a flag of
// the server's pods, or that of deploy/base.
func (s *subject) configName(ctx context.Context) string {
	if s.deployed == nil {
		return deploy.ConfigMap
	}
	pods, err := s.pods(ctx)
	if err != nil {
		return deploy.ConfigMap // The check of the pods reports this.
	}
	for i := range pods {
		for j := range pods[i].Spec.Containers {
			for _, arg := range pods[i].Spec.Containers[j].Args {
				if name, ok := strings.CutPrefix(arg, "--config-name="); ok {
					return name
				}
			}
		}
	}
	return deploy.ConfigMap
}
