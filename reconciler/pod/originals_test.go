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

// bits are those of some originals.
func bits(which ...contract.Original) (all uint8) {
	for _, w := range which {
		all |= 1 << w
	}
	return all
}

func TestOriginals(t *testing.T) {
	t.Run("what is known of originals", whatIsKnownOfOriginals)
}

// TestWhatIsKnownOfOriginals tells what becomes of cpu and memory alike.
func whatIsKnownOfOriginals(t *testing.T) {
	type entries = []metav1.ManagedFieldsEntry
	type texts = map[string]string // By "request" and "limit", or the same after "adopted ".
	const alreadySized = "sized before"
	for _, resource := range []struct {
		name           string
		request, limit contract.Original
		// small and large are what the pod has, double is more, and most the most that is
		// read of any quantity.
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
			// request and limit are what the pod has, small and large unless they are set.
			request, limit string
			entries        entries
			texts          texts
			want           sizing.Amount
			claim          Claim
			set, adopted   uint8
			// unrecorded and so on are those of the container.
			unrecorded, takesOver, outdated uint8
			ours                            bool
			why, by, ignored, predecessor   string
		}{
			{name: "as created, it is the spec", entries: entries{podtest.AsMade}, want: as(resource.smallIs, resource.largeIs), unrecorded: both},
			{name: "as created, and we recorded it", entries: entries{podtest.AsMade, wrote(us, requestKey, limitKey)}, texts: texts{"request": small, "limit": large},
				want: as(resource.smallIs, resource.largeIs)},
			{name: "as created, and its creator recorded it", entries: entries{podtest.AsMade}, texts: texts{"request": small, "limit": large}, want: as(resource.smallIs, resource.largeIs)},
			{name: "as created, and another recorded it rightly", entries: entries{podtest.AsMade, wrote(they, requestKey, limitKey)}, texts: texts{"request": small, "limit": large},
				want: as(resource.smallIs, resource.largeIs), takesOver: both},
			{name: "another recorded the limit alone", entries: entries{podtest.AsMade, wrote(they, limitKey)}, texts: texts{"limit": large},
				want: as(resource.smallIs, resource.largeIs), takesOver: bits(limit), unrecorded: bits(request)},
			{name: "as created, and another recorded it wrongly", entries: entries{podtest.AsMade, wrote(they, requestKey)}, texts: texts{"request": double},
				want: as(resource.smallIs, resource.largeIs), unrecorded: both, ignored: requestKey},
			{name: "as created, and another recorded what is no amount", entries: entries{podtest.AsMade, wrote(they, limitKey)}, texts: texts{"limit": "x"},
				want: as(resource.smallIs, resource.largeIs), unrecorded: both, ignored: limitKey},
			{name: "as created, and we recorded something else", entries: entries{podtest.AsMade, wrote(us, requestKey)}, texts: texts{"request": double},
				claim: Lost, want: as(0, resource.largeIs), unrecorded: bits(limit), why: "annotation " + requestKey + " contradicts the spec, which nobody is known to have resized"},
			{name: "as created, whatever was adopted", entries: entries{podtest.AsMade, wrote(us, request.AdoptedKey("app"))}, texts: texts{"adopted request": small},
				want: as(resource.smallIs, resource.largeIs), unrecorded: both, outdated: bits(request)},
			{name: "a limit alone is nothing to scale", request: "none", entries: resized, want: as(0, resource.largeIs)},

			{name: "resized by us, it is what we recorded", entries: resized, texts: texts{"request": large, "limit": double}, want: as(resource.largeIs, resource.doubleIs), ours: true},
			{name: "the original of a limit may be that of its request", entries: resized, texts: texts{"request": large, "limit": large}, want: as(resource.largeIs, resource.largeIs), ours: true},
			{name: "but not below it", entries: resized, texts: texts{"request": double, "limit": large}, claim: Lost, want: as(resource.doubleIs, resource.largeIs), ours: true,
				why: "annotation " + limitKey + ": limit " + large + " is below the request "},
			{name: "resized by us, and it had no limit", limit: "none", entries: resized, texts: texts{"request": large}, want: as(resource.largeIs, 0), ours: true},
			{name: "nor has it one if something says so", limit: "none", entries: resized, texts: texts{"request": large, "limit": double}, want: as(resource.largeIs, 0), ours: true},
			{name: "what we recorded is lost", entries: resized, texts: texts{"limit": double}, claim: Lost, want: as(0, resource.doubleIs), ours: true, why: "annotation " + requestKey + " is missing although the pod was resized"},
			{name: "a limit that we did not record came later", entries: resized, texts: texts{"request": large}, claim: LimitStays, want: as(resource.largeIs, 0), ours: true},
			{name: "one that is equal was equal", limit: small, entries: resized, texts: texts{"request": large}, want: as(resource.largeIs, resource.largeIs), ours: true},
			{name: "not if admission added it", limit: small, entries: entries{podtest.BareMade, resize(us, request), wrote(us, requestKey)}, texts: texts{"request": large}, claim: LimitStays, want: as(resource.largeIs, 0), ours: true},
			{name: "nor if it is the most that is read", request: resource.most, limit: resource.most, entries: resized, texts: texts{"request": large}, claim: LimitStays, want: as(resource.largeIs, 0), ours: true},
			{name: "a limit that cannot be read", entries: resized, texts: texts{"request": large, "limit": "x"}, claim: Lost, want: as(resource.largeIs, 0), ours: true, why: "annotation " + limitKey + `: "x" is not a quantity`},
			{name: "a request that cannot be read", entries: resized, texts: texts{"request": "x", "limit": double}, claim: Lost, want: as(0, resource.doubleIs), ours: true, why: "annotation " + requestKey + `: "x" is not a quantity`},
			{name: "a request of nothing", entries: resized, texts: texts{"request": "0", "limit": double}, claim: Lost, want: as(0, resource.doubleIs), ours: true, why: "annotation " + requestKey + `: "0" is not above 0`},
			{name: "what a stranger recorded", entries: entries{podtest.AsMade, resize(us, request, limit), wrote(us, limitKey), wrote("stranger", requestKey)}, texts: texts{"request": large, "limit": double},
				claim: Lost, want: as(0, resource.doubleIs), ours: true, why: "annotation " + requestKey + `: it was written by "stranger", who neither created nor resized the pod`},
			{name: "a stranger's limit", entries: entries{podtest.AsMade, resize(us, request, limit), wrote(us, requestKey), wrote("stranger", limitKey)}, texts: texts{"request": large, "limit": double},
				claim: Lost, want: as(resource.largeIs, 0), ours: true, why: "annotation " + limitKey + `: it was written by "stranger"`},

			{name: "another set the request", entries: entries{podtest.AsMade, resize(they, request)}, claim: Theirs, set: bits(request), by: they, want: as(0, resource.largeIs), unrecorded: bits(limit)},
			{name: "another set the limit", entries: entries{podtest.AsMade, resize(they, limit)}, claim: Theirs, set: bits(limit), by: they, want: as(resource.smallIs, 0), unrecorded: bits(request)},
			{name: "another set both", entries: entries{podtest.AsMade, resize(they, request, limit)}, claim: Theirs, set: both, by: they},
			{name: "another set what we had recorded", entries: entries{podtest.AsMade, resize(us, limit), resize(they, request), wrote(us, requestKey, limitKey)}, texts: texts{"request": large, "limit": double},
				claim: Theirs, set: bits(request), by: they, want: as(resource.largeIs, resource.doubleIs), ours: true},
			{name: "another set the request, and the limit is lost", entries: entries{podtest.AsMade, resize(us, limit), resize(they, request), wrote(us, requestKey)}, texts: texts{"request": large},
				claim: Theirs, set: 0, by: they, want: as(resource.largeIs, 0), ours: true},
			{name: "another set the limit, and the request is lost", entries: entries{podtest.AsMade, resize(us, request), resize(they, limit), wrote(us, limitKey)}, texts: texts{"limit": double},
				claim: Theirs, set: 0, by: they, want: as(0, resource.doubleIs), ours: true},

			{name: "what another set was adopted", entries: entries{podtest.AsMade, resize(they, request), resize(us, limit), wrote(us, requestKey, limitKey, request.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted request": small}, want: as(resource.largeIs, resource.doubleIs), adopted: bits(request), ours: true},
			{name: "the limit was", entries: entries{podtest.AsMade, resize(they, limit), resize(us, request), wrote(us, requestKey, limitKey, limit.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted limit": large}, want: as(resource.largeIs, resource.doubleIs), adopted: bits(limit), ours: true},
			{name: "both were", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey, limitKey, request.AdoptedKey("app"), limit.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted request": small, "adopted limit": large}, want: as(resource.largeIs, resource.doubleIs), adopted: both},
			{name: "the request was, and a limit came later", entries: entries{podtest.AsMade, resize(they, request), resize(us, limit), wrote(us, requestKey, request.AdoptedKey("app"))},
				texts: texts{"request": large, "adopted request": small}, claim: LimitStays, want: as(resource.largeIs, 0), adopted: bits(request), ours: true},
			{name: "the request was, of a limit that is equal", limit: small, entries: entries{podtest.AsMade, resize(they, request), resize(us, limit), wrote(us, requestKey, request.AdoptedKey("app"))},
				texts: texts{"request": large, "adopted request": small}, want: as(resource.largeIs, resource.largeIs), adopted: bits(request), ours: true},
			{name: "one was adopted, and another set the other", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey, limitKey, request.AdoptedKey("app"))},
				texts: texts{"request": large, "limit": double, "adopted request": small}, claim: Theirs, set: bits(limit), adopted: bits(request), by: they, want: as(resource.largeIs, resource.doubleIs)},
			{name: "it was set anew since", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey, request.AdoptedKey("app"), limit.AdoptedKey("app"))},
				texts: texts{"request": large, "adopted request": double, "adopted limit": "x"}, claim: Theirs, set: both, by: they, want: as(resource.largeIs, 0), outdated: both},
			{name: "not we say that we adopted it", entries: entries{podtest.AsMade, resize(they, request, limit), wrote(us, requestKey), wrote("stranger", request.AdoptedKey("app"))},
				texts: texts{"request": large, "adopted request": small}, claim: Theirs, set: both, by: they, want: as(resource.largeIs, 0), outdated: bits(request)},

			{name: "another controller with our annotations resized it", entries: entries{podtest.AsMade, resize(published, request, limit), wrote(published, contract.AppliedAt, requestKey, limitKey)},
				texts: texts{"request": large, "limit": double}, want: as(resource.largeIs, resource.doubleIs), takesOver: both, ours: true, predecessor: published},
			{name: "one that we vouch for", entries: entries{podtest.AsMade, resize(published, request, limit), wrote(published, requestKey, limitKey), wrote(us, contract.OriginalsBy)},
				texts: texts{"request": large, "limit": double, "by": published}, want: as(resource.largeIs, resource.doubleIs), takesOver: both, ours: true},

			{name: "nobody knows who set it, on a pod that was never sized", want: as(resource.smallIs, resource.largeIs), unrecorded: both},
			{name: "it is as recorded", texts: texts{"request": small, "limit": large}, want: as(resource.smallIs, resource.largeIs)},
			{name: "it is not", texts: texts{"request": small, "limit": double}, claim: Lost, want: as(resource.smallIs, 0), why: "annotation " + limitKey + " contradicts the spec, and the API server's record of who resized the pod is gone"},
			{name: "nobody knows who set it, on a pod that says for what it was sized", texts: texts{alreadySized: "n4"}, claim: Lost, why: "annotation " + requestKey + " is missing although the pod was resized"},
			{name: "nor on one that somebody resized", entries: entries{resize(they, contract.Original(3-int(limit)))}, claim: Lost, why: "annotation " + requestKey + " is missing although the pod was resized"},
			{name: "nor on one whose record was cut", entries: entries{podtest.Managed(ancientChanges, "", 3, "restartPolicy")}, claim: Lost, why: "annotation " + requestKey + " is missing although the pod was resized"},
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
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "other"})
				c := &From(p).Containers[0]

				if got := resource.of(&c.Original); got != tc.want {
					t.Errorf("originals %v, want %v", got, tc.want)
				}
				if got, want := resource.standing(c), (Standing{tc.claim, tc.set, tc.adopted}); got != want || got.Ours() != (tc.claim == Scales || tc.claim == LimitStays) {
					t.Errorf("it is %+v, want %+v", got, want)
				}
				if c.Unrecorded != tc.unrecorded || c.TakesOver != tc.takesOver || c.Outdated != tc.outdated || c.Resized() != tc.ours {
					t.Errorf("unrecorded %b, to be taken over %b, outdated %b, resized %t; want %b, %b, %b, %t", c.Unrecorded, c.TakesOver, c.Outdated, c.Resized(),
						tc.unrecorded, tc.takesOver, tc.outdated, tc.ours)
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
					t.Errorf("ignored are %q, want %q", ignored, tc.ignored)
				}
				if got := c.Predecessors(); slices.Contains(got, published) != (tc.predecessor != "") || len(slices.Compact(got)) > 1 {
					t.Errorf("predecessors %q, want %q", got, tc.predecessor)
				}
			})
		}
	}
}
