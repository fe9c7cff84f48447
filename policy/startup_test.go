package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestStartup(t *testing.T) {
	t.Run("nothing is boosted unless it is set", func(t *testing.T) {
		s := profile(t, minimal, ratiotest.Subject{In: "shop"}).Startup
		if want := (policy.Startup{AtMost: 5 * time.Minute}); s != want || s.Boosts() {
			t.Errorf("got %+v, want %+v", s, want)
		}
	})
	t.Run("a rule has the values of the globals that it does not set", func(t *testing.T) {
		const text = minimal + `
startup: {cpu: 3x, afterReady: 10s}
overrides:
- {name: slow, match: {namespace: slow}, startup: {atMost: 1h}}
- {name: more, match: {namespace: more}, startup: {cpu: +500m}}
- {name: none, match: {namespace: none}, startup: {cpu: 1x}}
- {name: limits, match: {namespace: limits}, startup: {cpu: 1x, cpuLimit: +500m}}
- {name: alone, match: {namespace: alone}, startup: {cpuLimit: +500m}}
`
		three, none := sizing.Boost{Factor: sizing.Factor{Num: 3000, Den: 1000}}, sizing.Boost{Factor: sizing.Factor{Num: 1000, Den: 1000}}
		for namespace, want := range map[string]policy.Startup{
			"other": {CPU: three, AfterReady: 10 * time.Second, AtMost: 5 * time.Minute},
			"slow":  {CPU: three, AfterReady: 10 * time.Second, AtMost: time.Hour},
			"more":  {CPU: sizing.Boost{More: 500}, AfterReady: 10 * time.Second, AtMost: 5 * time.Minute},
			"none":  {CPU: none, AfterReady: 10 * time.Second, AtMost: 5 * time.Minute},

			"alone":  {CPU: three, CPULimit: sizing.Boost{More: 500}, AfterReady: 10 * time.Second, AtMost: 5 * time.Minute},
			"limits": {CPU: none, CPULimit: sizing.Boost{More: 500}, AfterReady: 10 * time.Second, AtMost: 5 * time.Minute},
		} {
			if got := profile(t, text, ratiotest.Subject{In: namespace}).Startup; got != want || got.Boosts() != (namespace != "none") {
				t.Errorf("%s: got %+v, want %+v", namespace, got, want)
			}
		}
	})
	t.Run("cpu is a factor or an amount to add", func(t *testing.T) {
		factor := func(thousandths uint64) sizing.Boost {
			return sizing.Boost{Factor: sizing.Factor{Num: thousandths, Den: 1000}}
		}
		for text, want := range map[string]sizing.Boost{
			"2.5x": factor(2500), "1.0001x": factor(1001), "100x": factor(100_000), `"1.0x"`: factor(1000), "+1": {More: 1000}, `"+0.5"`: {More: 500}, "+1m": {More: 1}, "+1000": {More: 1_000_000},
		} {
			if got := profile(t, minimal+"startup: {cpu: "+text+"}", ratiotest.Subject{}).Startup.CPU; got != want {
				t.Errorf("%s is %+v, want %+v", text, got, want)
			}
		}
		for _, text := range []string{"3", "500m", "x", "0.5x", "0x", "-2x", "101x", "1e1x", "NaNx", "Infx", "0x3x", "3X", "3 x", "+", "+0", "+-1", "++1", "+1x", "+1001", "+1Gi ", "+500mx", "~", "[3x]", `""`} {
			_, err := config.Parse([]byte(minimal+"startup: {cpu: "+text+"}"), ratios.Provenance{})
			if err == nil || !strings.Contains(err.Error(), "startup.cpu: line 3: must be a factor from 1x to 100x, such as 3x, or an amount of cpu to add from +1m to +1000, such as +500m, not ") {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
	t.Run("times have limits", func(t *testing.T) {
		for text, fault := range map[string]string{
			"afterReady: 0s": "", "afterReady: 59m, atMost: 1h": "", "atMost: 1s": "", "atMost: 1h": "",
			"afterReady: -1s": "startup.afterReady: line 3: must be a duration from 0s to 1h", "afterReady: 61m": "startup.afterReady: line 3: must be a duration from 0s to 1h",
			"afterReady: 5m": "startup: line 3: afterReady 5m is not shorter than atMost 5m, which ends every boost: set both",
			"atMost: 0s":     "startup.atMost: line 3: must be a duration from 1s to 1h", "atMost: 2h": "startup.atMost: line 3: must be a duration from 1s to 1h",
		} {
			_, err := config.Parse([]byte(minimal+"startup: {cpu: 2x, "+text+"}"), ratios.Provenance{})
			if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
	t.Run("a rule without cpu boosts nothing", func(t *testing.T) {
		for text, fault := range map[string]string{
			"overrides: [{name: slow, match: {namespace: slow}, startup: {atMost: 1m}}]":                                     "overrides[0].startup: line 3: cpu or cpuLimit must be set, here or for all pods",
			"startup: {cpu: 2x, afterReady: 1m}\noverrides: [{name: slow, match: {namespace: slow}, startup: {atMost: 1m}}]": "overrides[0].startup: line 4: afterReady 1m is not shorter than atMost 1m",
			"startup: {atMost: 1m}\noverrides: [{name: slow, match: {namespace: slow}, startup: {cpu: 2x}}]":                 "",
		} {
			_, err := config.Parse([]byte(minimal+text), ratios.Provenance{})
			if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
}
