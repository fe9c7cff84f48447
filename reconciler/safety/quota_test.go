package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

func quotaOf(hard, used corev1.ResourceList) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: named("team"), Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used}}
}

func TestQuota(t *testing.T) {
	before := app(list("cpu", "1", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi"))
	infeasible := mid(corev1.PodCondition{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible})
	type pods = []func(*corev1.Pod)
	for _, tc := range []struct {
		name          string
		before, after pods
		hard, used    corev1.ResourceList
		want          string
	}{
		{"the last millicore", pods{before}, pods{app(list("cpu", "1250m", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi"))}, list("requests.cpu", "1250m"), list("requests.cpu", "1"), ""},
		{"beyond the last millicore", pods{before}, pods{app(list("cpu", "1251m", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi"))}, list("requests.cpu", "1250m"), list("requests.cpu", "1"), " has no room: requests.cpu, requested: 251m, used: 1, hard: 1250m"},
		{"cpu counts like requests.cpu", pods{before}, pods{app(list("cpu", "1500m", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi"))}, list("cpu", "1"), list("cpu", "1"), " has no room: cpu, requested: 500m, used: 1, hard: 1"},
		{"memory", pods{before}, pods{app(list("cpu", "1", "memory", "1025Mi"), list("cpu", "2", "memory", "2Gi"))}, list("memory", "1Gi", "requests.memory", "1Gi"), list("memory", "1Gi", "requests.memory", "1Gi"), " has no room: memory, requested: 1Mi, used: 1Gi, hard: 1Gi; requests.memory, requested: 1Mi, used: 1Gi, hard: 1Gi"},
		{"limits", pods{before}, pods{app(list("cpu", "1", "memory", "1Gi"), list("cpu", "3", "memory", "3Gi"))}, list("limits.cpu", "2", "limits.memory", "3Gi"), list("limits.cpu", "2", "limits.memory", "2Gi"), " has no room: limits.cpu, requested: 1, used: 2, hard: 2"},
		{"a decrease while the quota is exceeded", pods{before}, pods{app(list("cpu", "800m", "memory", "1Gi"), list("cpu", "1600m", "memory", "2Gi"))}, list("requests.cpu", "1"), list("requests.cpu", "5"), ""},
		{"another resource grows while the quota is exceeded", pods{before}, pods{app(list("cpu", "800m", "memory", "2Gi"), list("cpu", "1600m", "memory", "2Gi"))}, list("requests.cpu", "1", "requests.memory", "9Gi"), list("requests.cpu", "5", "requests.memory", "1Gi"), ""},
		{"a resource does not change while its quota is exceeded", pods{before}, pods{app(list("cpu", "1", "memory", "2Gi"), list("cpu", "2", "memory", "2Gi"))}, list("requests.cpu", "1", "requests.memory", "9Gi"), list("requests.cpu", "5", "requests.memory", "1Gi"), ""},
		{"a resource that shrinks does not hide one without room", pods{before}, pods{app(list("cpu", "800m", "memory", "2Gi"), list("cpu", "1600m", "memory", "2Gi"))}, list("requests.cpu", "9", "requests.memory", "1Gi"), list("requests.cpu", "1", "requests.memory", "1Gi"), " has no room: requests.memory, requested: 1Gi, used: 1Gi, hard: 1Gi"},
		{"one container grows by what another shrinks", pods{before, second(list("cpu", "1"), list("cpu", "2"))}, pods{app(list("cpu", "1200m", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi")), second(list("cpu", "800m"), list("cpu", "2"))}, list("requests.cpu", "2"), list("requests.cpu", "2"), ""},
		{"resources that a shrinking pod still holds are charged already", pods{before, mid(corev1.PodCondition{Type: corev1.PodResizeInProgress})}, pods{app(list("cpu", "1500m", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi"))}, list("requests.cpu", "3"), list("requests.cpu", "3"), ""},
		{"an infeasible resize is not charged", pods{before, infeasible}, pods{app(list("cpu", "6", "memory", "1Gi"), list("cpu", "6", "memory", "2Gi"))}, list("requests.cpu", "3"), list("requests.cpu", "3"), ""},
		{"quotas of other resources do not count", pods{before}, pods{app(list("cpu", "2", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi"))}, list("pods", "1", "count/pods", "1", "services", "0"), list("pods", "1", "count/pods", "1", "services", "0"), ""},
		{"a quota that no controller has processed yet", pods{before}, pods{app(list("cpu", "2", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi"))}, nil, nil, ""},
		{"a quota that is not counted yet", pods{before}, pods{app(list("cpu", "800m", "memory", "1Gi"), list("cpu", "1600m", "memory", "2Gi"))}, list("requests.cpu", "9"), nil, ": the usage of requests.cpu is not known yet"},
		{"a container that lacks a counted resource, even for a decrease", pods{before, second(list("cpu", "1"), nil)}, pods{app(list("cpu", "800m", "memory", "1Gi"), list("cpu", "1600m", "memory", "2Gi")), second(list("cpu", "1"), nil)}, list("limits.cpu", "9"), list("limits.cpu", "1"), ": container second must have limits.cpu"},
		{"an init container that lacks a counted resource", pods{before, initContainer("init", nil, nil)}, pods{app(list("cpu", "800m", "memory", "1Gi"), list("cpu", "1600m", "memory", "2Gi")), initContainer("init", nil, nil)}, list("memory", "9Gi"), list("memory", "1Gi"), ": container init must have memory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := changeTo(podWith(tc.before...), podWith(tc.after...), &Surroundings{Quotas: []*corev1.ResourceQuota{quotaOf(tc.hard, tc.used)}})
			if tc.want == "" {
				check(t, got, "", "")
				return
			}
			check(t, got, contract.QuotaExceeded, "ResourceQuota team"+tc.want)
		})
	}
}

func TestQuotaRules(t *testing.T) {
	t.Run("checks all quotas", checksAllQuotas)
	t.Run("counts only pods in the scopes of a quota", countsOnlyPodsInTheScopesOfAQuota)
}

func checksAllQuotas(t *testing.T) {
	elsewhere, room, full := quotaOf(list("cpu", "1"), list("cpu", "1")), quotaOf(list("cpu", "9"), list("cpu", "1")), quotaOf(list("cpu", "1"), list("cpu", "1"))
	elsewhere.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}
	full.Name = "full"
	for _, first := range []*corev1.ResourceQuota{elsewhere, room} {
		got := changeTo(podWith(), podWith(app(list("cpu", "2"), nil)), &Surroundings{Quotas: []*corev1.ResourceQuota{first, full}})
		check(t, got, contract.QuotaExceeded, "ResourceQuota full has no room: cpu, requested: 1, used: 1, hard: 1")
	}
}

func countsOnlyPodsInTheScopesOfAQuota(t *testing.T) {
	deadline := func(p *corev1.Pod) { seconds := int64(60); p.Spec.ActiveDeadlineSeconds = &seconds }
	priority := func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" }
	term := corev1.PodAffinityTerm{Namespaces: []string{"other"}}
	affinity := func(a corev1.Affinity) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Affinity = &a } }
	class := func(operator corev1.ScopeSelectorOperator, values ...string) corev1.ScopedResourceSelectorRequirement {
		return corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: operator, Values: values}
	}
	only := func(scope corev1.ResourceQuotaScope) corev1.ScopedResourceSelectorRequirement {
		return corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}
	}
	for _, tc := range []struct {
		name  string
		pod   *corev1.Pod
		scope corev1.ScopedResourceSelectorRequirement
		want  bool
	}{
		{"Terminating, with a deadline", podWith(deadline), only(corev1.ResourceQuotaScopeTerminating), true},
		{"Terminating, without a deadline", podWith(), only(corev1.ResourceQuotaScopeTerminating), false},
		{"NotTerminating, with a deadline", podWith(deadline), only(corev1.ResourceQuotaScopeNotTerminating), false},
		{"NotTerminating, without a deadline", podWith(), only(corev1.ResourceQuotaScopeNotTerminating), true},
		{"BestEffort", podWith(), only(corev1.ResourceQuotaScopeBestEffort), false},
		{"NotBestEffort", podWith(), only(corev1.ResourceQuotaScopeNotBestEffort), true},
		{"any PriorityClass", podWith(priority), only(corev1.ResourceQuotaScopePriorityClass), true},
		{"any PriorityClass, on a pod without one", podWith(), only(corev1.ResourceQuotaScopePriorityClass), false},
		{"no PriorityClass, on a pod with one", podWith(priority), class(corev1.ScopeSelectorOpDoesNotExist), false},
		{"no PriorityClass, on a pod without one", podWith(), class(corev1.ScopeSelectorOpDoesNotExist), true},
		{"this PriorityClass", podWith(priority), class(corev1.ScopeSelectorOpIn, "low", "high"), true},
		{"another PriorityClass", podWith(priority), class(corev1.ScopeSelectorOpIn, "low"), false},
		{"this PriorityClass, on a pod without one", podWith(), class(corev1.ScopeSelectorOpIn, "low"), false},
		{"not this PriorityClass", podWith(priority), class(corev1.ScopeSelectorOpNotIn, "high"), false},
		{"not another PriorityClass", podWith(priority), class(corev1.ScopeSelectorOpNotIn, "low"), true},
		{"not another PriorityClass, on a pod without one", podWith(), class(corev1.ScopeSelectorOpNotIn, "low"), true},
		{"an unknown operator", podWith(priority), class("Like", "high"), false},
		{"affinity to another namespace", podWith(affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}})), only(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), true},
		{"anti-affinity to other namespaces, preferred", podWith(affinity(corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}}}}})), only(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), true},
		{"affinity in the namespace", podWith(affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}}}})), only(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), false},
		{"a scope of volumes", podWith(), only(corev1.ResourceQuotaScopeVolumeAttributesClass), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bySelector := quotaOf(list("cpu", "1"), list("cpu", "1"))
			bySelector.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{tc.scope}}
			quotas := []*corev1.ResourceQuota{bySelector}
			if tc.scope.Operator == corev1.ScopeSelectorOpExists {
				byScope := quotaOf(list("cpu", "1"), list("cpu", "1"))
				byScope.Spec.Scopes = []corev1.ResourceQuotaScope{tc.scope.ScopeName}
				quotas = append(quotas, byScope)
			}
			for _, quota := range quotas {
				want := contract.QuotaExceeded
				if !tc.want {
					want = ""
				}
				check(t, changeTo(tc.pod, podWith(app(list("cpu", "2"), nil)), &Surroundings{Quotas: []*corev1.ResourceQuota{quota}}), want, "")
			}
		})
	}
}

func TestCharged(t *testing.T) {
	quota := quotaOf(list("requests.cpu", "2", "limits.memory", "4Gi", "pods", "5"), list("requests.cpu", "1", "limits.memory", "1Gi", "pods", "1"))
	of := podWith(app(list("cpu", "250m", "memory", "1Gi"), list("memory", "2Gi")))
	got := Charged([]*corev1.ResourceQuota{quota}, pod.From(of))[0]
	if want := list("requests.cpu", "1250m", "limits.memory", "3Gi", "pods", "1"); !apiequality.Semantic.DeepEqual(got.Status.Used, want) {
		t.Errorf("used %v, want %v", got.Status.Used, want)
	}
	if used := quota.Status.Used["requests.cpu"]; used.String() != "1" {
		t.Errorf("the quota itself was changed to %v", used.String())
	}
}
