package pod

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// bits returns the bits of some originals.
func bits(which ...contract.Original) (all uint8) {
	for _, w := range which {
		all |= 1 << w
	}
	return all
}

func TestOriginals(t *testing.T) {
	t.Run("determines the originals of each resource", determinesTheOriginalsOfEachResource)
}

// determinesTheOriginalsOfEachResource runs the same cases for cpu and memory.
func determinesTheOriginalsOfEachResource(t *testing.T) {
	type entries = []metav1.ManagedFieldsEntry
	type texts = map[string]string // Keys: "request" and "limit", with or without "adopted ".
	const alreadySized = "sized before"
	for _, resource := range []struct {
		name           string
		request, limit contract.Original
		// small and large are the pod's amounts, double is more, and most is the largest
		// amount that is read.
		amounts                    func(request, limit string) podtest.Amounts
		small, large, double, most string
		smallIs, largeIs, doubleIs int64
		of                         func(*sizing.Container) sizing.Amount
		standing                   func(*Container) Standing
		index                      int
	}{
		{
			name: "cpu", index: 0, request: contract.CPURequest, limit: contract.CPULimit,
			amounts: func(request, limit string) podtest.Amounts { return podtest.Amounts{request, limit, "", ""} },
			small:   "800m", large: "1600m", double: "2", most: "1000000000", smallIs: 800, largeIs: 1600, doubleIs: 2000,
			of: func(c *sizing.Container) sizing.Amount { return c.CPU }, standing: func(c *Container) Standing { return c.Standings[0] },
		},
		{
			name: "memory", index: 1, request: contract.MemoryRequest, limit: contract.MemoryLimit,
			amounts: func(request, limit string) podtest.Amounts { return podtest.Amounts{"", "", request, limit} },
			small:   "1Gi", large: "2Gi", double: "3Gi", most: "1Ei", smallIs: 1 << 30, largeIs: 2 << 30, doubleIs: 3 << 30,
			of: func(c *sizing.Container) sizing.Amount { return c.Memory }, standing: func(c *Container) Standing { return c.Standings[1] },
		},
	} {
		request, limit, small, large, double := resource.request, resource.limit, resource.small, resource.large, resource.double
		both := bits(request, limit)
		resize := func(manager string, which ...contract.Original) metav1.ManagedFieldsEntry {
			return podtest.ResizeBy(manager, 10, which...)
		}
		const us, they, published = contract.FieldManager, "they", "published"
		wrote := func(manager string, keys ...string) metav1.ManagedFieldsEntry {
			return podtest.Managed(manager, "", 11, keys...)
		}
		requestKey, limitKey := request.Key("app"), limit.Key("app")
		resized := entries{podtest.AsMade, resize(us, request, limit), wrote(us, contract.AppliedAt, requestKey, limitKey)}
		as := func(request, limit int64) sizing.Amount { return sizing.Amount{Request: request, Limit: limit} }

		for _, tc := range []struct {
			name string
			// request and limit are the pod's amounts; by default, small and large.
			request, limit string
			entries        entries
			texts          texts
			want           sizing.Amount
			claim          Claim
			set, adopted   uint8
			// unannotated, takesOver, outdated and returned are the fields of the container.
			unannotated, takesOver, outdated, returned uint8
			ours                                       bool
			why, by, ignored, predecessor              string
		}{
			{name: "as created, the original is the spec", entries: entries{podtest.AsMade}, want: as(resource.smallIs, resource.largeIs), unannotated: both},
			{name: "as created, and we recorded it", entries: entries{podtest.AsMade, wrote(us, requestKey, limitKey)}, texts: texts{"request": small, "limit": large},
				want: as(resource.smallIs, resource.largeIs)},
			{name: "as created, and its creator recorded it", entries: entries{podtest.AsMade}, texts: texts{"request": small, "limit": large}, want: as(resource.smallIs, resource.largeIs)},
			{name: "as created, and another recorded it correctly", entries: entries{podtest.AsMade, wrote(they, requestKey, limitKey)}, texts: texts{"request": small, "limit": large},
				want: as(resource.smallIs, resource.largeIs), takesOver: both},
			{name: "as created, and another recorded only the limit", entries: entries{podtest.AsMade, wrote(they, limitKey)}, texts: texts{"limit": large},
				want: as(resource.smallIs, resource.largeIs), takesOver: bits(limit), unannotated: bits(request)},
			{name: "as created, and another recorded another amount", entries: entries{podtest.AsMade, wrote(they, requestKey)}, texts: texts{"request": double},
				want: as(resource.smallIs, resource.largeIs), unannotated: both, ignored: requestKey},
			{name: "as created, and another recorded an invalid amount", entries: entries{podtest.AsMade, wrote(they, limitKey)}, texts: texts{"limit": "x"},
				want: as(resource.smallIs, resource.largeIs), unannotated: both, ignored: limitKey},
			{name: "as created, and we recorded another amount", entries: entries{podtest.AsMade, wrote(us, requestKey)}, texts: texts{"request": double},
				claim: Lost, want: as(0, resource.largeIs), unannotated: bits(limit), why: "annotation " + requestKey + " contradicts the spec, although managedFields show no resize"},
			{name: "as created, although an amount was adopted", entries: entries{podtest.AsMade, wrote(us, request.AdoptedKey("app"))}, texts: texts{"adopted request": small},
				want: as(resource.smallIs, resource.largeIs), unannotated: both, outdated: bits(request)},
			{name: "a limit without a request", request: "none", entries: resized, want: as(0, resource.largeIs)},

			{name: "resized by us, the original is what we recorded", entries: resized, texts: texts{"request": large, "limit": double}, want: as(resource.largeIs, resource.doubleIs), ours: true},
			{name: "the original limit equals the original request", entries: resized, texts: texts{"request": large, "limit": large}, want: as(resource.largeIs, resource.largeIs), ours: true},
			{name: "the original limit is below the original request", entries: resized, texts: texts{"request": double, "limit": large}, claim: Lost, want: as(resource.doubleIs, resource.largeIs), ours: true,
				why: "annotation " + limitKey + ": limit " + large + " is below the request "},
			{name: "resized by us, without a limit", limit: "none", entries: resized, texts: texts{"request": large}, want: as(resource.largeIs, 0), ours: true},
			{name: "resized by us, without a limit but with an annotation", limit: "none", entries: resized, texts: texts{"request": large, "limit": double}, want: as(resource.largeIs, 0), ours: true},
			{name: "resized by us, and our annotation is missing", entries: resized, texts: texts{"limit": double}, claim: Lost, want: as(0, resource.doubleIs), ours: true, why: "annotation " + requestKey + " is missing although the pod was resized"},
			{name: "resized by us, and the limit was added later", entries: resized, texts: texts{"request": large}, claim: LimitStays, want: as(resource.largeIs, 0), ours: true},
			{name: "resized by us, and the unannotated limit equals its request", limit: small, entries: resized, texts: texts{"request": large}, want: as(resource.largeIs, resource.largeIs), ours: true},
			{name: "resized by us, and admission added an equal limit", limit: small, entries: entries{podtest.BareMade, resize(us, request), wrote(us, requestKey)}, texts: texts{"request": large}, claim: LimitStays, want: as(resource.largeIs, 0), ours: true},
			{name: "resized by us, and the equal limit is the largest amount", request: resource.most, limit: resource.most, entries: resized, texts: texts{"request": large}, claim: LimitStays, want: as(resource.largeIs, 0), ours: true},
			{name: "resized by us, and the original limit is invalid", entries: resized, texts: texts{"request": large, "limit": "x"}, claim: Lost, want: as(resource.largeIs, 0), ours: true, why: "annotation " + limitKey + `: "x" is not a quantity`},
			{name: "resized by us, and the original request is invalid", entries: resized, texts: texts{"request": "x", "limit": double}, claim: Lost, want: as(0, resource.doubleIs), ours: true, why: "annotation " + requestKey + `: "x" is not a quantity`},
			{name: "resized by us, and the original request is 0", entries: resized, texts: texts{"request": "0", "limit": double}, claim: Lost, want: as(0, resource.doubleIs), ours: true, why: "annotation " + requestKey + `: "0" is not greater than 0`},
			{name: "resized by us, and a stranger recorded the request", entries: entries{podtest.AsMade, resize(us, request, limit), wrote(us, limitKey), wrote("stranger", requestKey)}, texts: texts{"request": large, "limit": double},
				claim: Lost, want: as(0, resource.doubleIs), ours: true, why: "annotation " + requestKey + `: it was written by "stranger", which neither created nor resized the pod`},
			{name: "resized by us, and a stranger recorded the limit", entries: entries{podtest.AsMade, resize(us, request, limit), wrote(us, requestKey), wrote("stranger", limitKey)}, texts: texts{"request": large, "limit": double},
				claim: Lost, want: as(resource.largeIs, 0), ours: true, why: "annotation " + limitKey + `: it was written by "stranger"`},

			{name: "another set the request", entries: entries{podtest.AsMade, resize(they, request)}, claim: Theirs, set: bits(request), by: they, want: as(0, resource.largeIs), unannotated: bits(limit)},
			{name: "another set the limit", entries: entries{podtest.AsMade, resize(they, limit)}, claim: Theirs, set: bits(limit), by: they, want: as(resource.smallIs, 0), unannotated: bits(request)},
			{name: "another set both", entries: entries{podtest.AsMade, resize(they, request, limit)}, claim: Theirs, set: both, by: they},
			{name: "another set the request that we had recorded", entries: entries{podtest.AsMade, resize(us, limit), resize(they, request), wrote(us, requestKey, limitKey)}, texts: texts{"request": large, "limit": double},
				claim: Theirs, set: bits(request), by: they, want: as(resource.largeIs, resource.doubleIs), ours: true},
			{name: "another set the request, and the limit is unknown", entries: entries{podtest.AsMade, resize(us, limit), resize(they, request), wrote(us, requestKey)}, texts: texts{"request": large},
				claim: Theirs, set: 0, by: they, want: as(resource.largeIs, 0), ours: true},
			{name: "another set the limit, and the request is unknown", entries: entries{podtest.AsMade, resize(us, request), resize(they, limit), wrote(us, limitKey)}, texts: texts{"limit": double},
				claim: Theirs, set: 0, by: they, want: as(0, resource.doubleIs), ours: true},

			{name: "adopted request", entries: entries{podtest.AsMade, resize(they, request), resize(us, limit), wrote(us, requestKey, limitKey, request.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted request": small}, want: as(resource.largeIs, resource.doubleIs), adopted: bits(request), ours: true},
			{name: "adopted limit", entries: entries{podtest.AsMade, resize(they, limit), resize(us, request), wrote(us, requestKey, limitKey, limit.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted limit": large}, want: as(resource.largeIs, resource.doubleIs), adopted: bits(limit), ours: true},
			{name: "adopted request and limit", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey, limitKey, request.AdoptedKey("app"), limit.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted request": small, "adopted limit": large}, want: as(resource.largeIs, resource.doubleIs), adopted: both},
			{name: "a request and a limit that were set back", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey, limitKey, request.AdoptedKey("app"), limit.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted request": small, "adopted limit": large}, want: as(resource.largeIs, resource.doubleIs), returned: both},
			{name: "adopted request, and the limit was added later", entries: entries{podtest.AsMade, resize(they, request), resize(us, limit), wrote(us, requestKey, request.AdoptedKey("app"))},
				texts: texts{"request": large, "adopted request": small}, claim: LimitStays, want: as(resource.largeIs, 0), adopted: bits(request), ours: true},
			{name: "adopted request, and the limit is equal", limit: small, entries: entries{podtest.AsMade, resize(they, request), resize(us, limit), wrote(us, requestKey, request.AdoptedKey("app"))},
				texts: texts{"request": large, "adopted request": small}, want: as(resource.largeIs, resource.largeIs), adopted: bits(request), ours: true},
			{name: "adopted request, and another set the limit", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey, limitKey, request.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted request": small}, claim: Theirs, set: bits(limit), adopted: bits(request), by: they, want: as(resource.largeIs, resource.doubleIs)},
			{name: "adopted amounts that were set again since", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey, request.AdoptedKey("app"), limit.AdoptedKey("app"))},
				texts: texts{"request": large, "adopted request": double, "adopted limit": "x"}, claim: Theirs, set: both, by: they, want: as(resource.largeIs, 0), outdated: both},
			{name: "adopted according to a stranger", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey), wrote("stranger", request.AdoptedKey("app"))},
				texts: texts{"request": large, "adopted request": small}, claim: Theirs, set: both, by: they, want: as(resource.largeIs, 0), outdated: bits(request)},

			{name: "a predecessor resized it", entries: entries{podtest.AsMade, resize(published, request, limit), wrote(published, contract.AppliedAt, requestKey, limitKey)},
				texts: texts{"request": large, "limit": double}, want: as(resource.largeIs, resource.doubleIs), takesOver: both, ours: true, predecessor: published},
			{name: "a predecessor that we vouch for resized it", entries: entries{podtest.AsMade, resize(published, request, limit), wrote(published, requestKey, limitKey), wrote(us, contract.OriginalsBy)},
				texts: texts{"request": large, "limit": double, "by": published}, want: as(resource.largeIs, resource.doubleIs), takesOver: both, ours: true},

			{name: "unknown setter on a pod that was never sized", want: as(resource.smallIs, resource.largeIs), unannotated: both},
			{name: "unknown setter, and the annotations match", texts: texts{"request": small, "limit": large}, want: as(resource.smallIs, resource.largeIs)},
			{name: "unknown setter, and an annotation contradicts the spec", texts: texts{"request": small, "limit": double}, claim: Lost, want: as(resource.smallIs, 0), why: "annotation " + limitKey + " contradicts the spec, and managedFields no longer show who resized the pod"},
			{name: "unknown setter on a pod with an applied node type", texts: texts{alreadySized: "n4"}, claim: Lost, why: "annotation " + requestKey + " is missing although the pod was resized"},
			{name: "unknown setter on a pod that another resized", entries: entries{resize(they, contract.Original(3-int(limit)))}, claim: Lost, why: "annotation " + requestKey + " is missing although the pod was resized"},
			{name: "unknown setter on a pod with merged entries", entries: entries{podtest.Managed(ancientChanges, "", 3, "restartPolicy")}, claim: Lost, why: "annotation " + requestKey + " is missing although the pod was resized"},
		} {
			t.Run(resource.name+"/"+tc.name, func(t *testing.T) {
				has := func(text, usual string) string {
					switch text {
					case "":
						return usual
					case "none":
						return ""
					}
					return text
				}
				p := podtest.Pod(resource.amounts(has(tc.request, small), has(tc.limit, large)), podtest.ManagedBy(tc.entries...))
				p.Annotations = map[string]string{}
				for which, text := range tc.texts {
					p.Annotations[map[string]string{
						"request": requestKey, "limit": limitKey, "adopted request": request.AdoptedKey("app"), "adopted limit": limit.AdoptedKey("app"),
						"by": contract.OriginalsBy, alreadySized: contract.AppliedInstanceType,
					}[which]] = text
				}
				if tc.adopted != 0 {
					p.Annotations[contract.AdoptedAt] = "2026-11-21T00:00:00Z"
				}
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "other"})
				c := &From(p).Containers[0]

				if got := resource.of(&c.Original); got != tc.want {
					t.Errorf("originals %v, want %v", got, tc.want)
				}
				if got, want := resource.standing(c), (Standing{tc.claim, tc.set, tc.adopted}); got != want || got.Ours() != (tc.claim == Scales || tc.claim == LimitStays) {
					t.Errorf("standing %+v, want %+v", got, want)
				}
				if c.Unannotated != tc.unannotated || c.TakesOver != tc.takesOver || c.Outdated != tc.outdated || c.Returned() != tc.returned || c.Resized() != tc.ours {
					t.Errorf("unannotated %b, adopted %b, outdated %b, set back %b, resized %t; want %b, %b, %b, %b, %t", c.Unannotated, c.TakesOver, c.Outdated, c.Returned(), c.Resized(),
						tc.unannotated, tc.takesOver, tc.outdated, tc.returned, tc.ours)
				}
				for which, text := range map[contract.Original]string{request: tc.texts["request"], limit: tc.texts["limit"]} {
					if tc.takesOver&(1<<which) == 0 && !strings.Contains(tc.why, which.Key("app")+": it was written by") {
						text = ""
					}
					if got := c.TextOf(which); got != text {
						t.Errorf("another wrote %q, want %q", got, text)
					}
				}
				if why := c.WhyLost(sizing.Measures[resource.index]); !strings.HasPrefix(why, tc.why) || (why == "") != (tc.why == "") || c.WhyLost(sizing.Measures[1-resource.index]) != "" {
					t.Errorf("lost because %q, want %q", why, tc.why)
				}
				if got := c.SetBy(sizing.Measures[resource.index]); got != tc.by || c.SetBy(sizing.Measures[1-resource.index]) != "" {
					t.Errorf("set by %q, want %q", got, tc.by)
				}
				if ignored := c.Ignored(); (len(ignored) == 1) != (tc.ignored != "") || len(ignored) > 0 && !strings.HasPrefix(ignored[0], "annotation "+tc.ignored+`: "`) {
					t.Errorf("ignored %q, want %q", ignored, tc.ignored)
				}
				if got := c.Predecessors(); slices.Contains(got, published) != (tc.predecessor != "") || len(slices.Compact(got)) > 1 {
					t.Errorf("predecessors %q, want %q", got, tc.predecessor)
				}
			})
		}
	}
}

func TestStartupCPUBoost(t *testing.T) {
	for _, tc := range []struct {
		name, label, annotation, want string
	}{
		{"requests", "spring", `{"state":"Active","initCPURequests":{"app":"500m"}}`, "spring"},
		{"limits", "spring", `{"state":"Active","initCPULimits":{"app":"1"}}`, "spring"},
		{"of an earlier version, without a state", "spring", `{"timestamp":"2026-11-21T00:00:00Z","initCPURequests":{"app":"500m"}}`, "spring"},
		{"of another container", "spring", `{"state":"Active","initCPURequests":{"proxy":"500m"}}`, ""},
		{"that has ended", "spring", `{"state":"Reverted","initCPURequests":{"app":"500m"}}`, ""},
		{"without a label, by which it would be ended", "", `{"state":"Active","initCPURequests":{"app":"500m"}}`, ""},
		{"that cannot be read", "spring", `{"initCPURequests":[]}`, ""},
		{"without an annotation", "spring", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(podtest.Guaranteed, podtest.AsCreated)
			if tc.label != "" {
				p.Labels = map[string]string{startupCPUBoost: tc.label}
			}
			if tc.annotation != "" {
				p.Annotations = map[string]string{startupCPUBoost: tc.annotation}
			}
			of := From(p)
			if got := of.StartupCPUBoost(); got.Raises("app") != (tc.want != "") || tc.want != "" && got.Name != tc.want {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
			if _, lowered := of.Containers[0].Raised(contract.CPURequest); lowered != 0 && tc.want == "" {
				t.Errorf("it is lowered to %d", lowered)
			}
		})
	}
}
