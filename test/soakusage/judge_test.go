package main

import (
	"strings"
	"testing"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestJudge(t *testing.T) {
	size := func(cpu, memory string) *workloadresizerv1.ResourceAmounts {
		return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: memory}
	}
	for name, test := range map[string]struct {
		seen  []*answer
		fault string
	}{
		"accepts what does not move":            {[]*answer{{size: size("1", "1Gi")}}, ""},
		"accepts less than a percent":           {[]*answer{{size: size("1009m", "1034Mi")}}, ""},
		"finds CPU that moves":                  {[]*answer{{size: size("980m", "1Gi")}}, "moved"},
		"finds memory that moves":               {[]*answer{{size: size("1", "1040Mi")}}, "moved"},
		"finds an amount that is gone":          {[]*answer{{size: size("1", "")}}, "moved"},
		"finds a recommendation that is gone":   {[]*answer{{size: size("1", "1Gi")}, {age: 2 * starting}}, "1 answers without"},
		"gives a replica that starts some time": {[]*answer{{age: starting / 2}}, ""},
		"finds that nobody answers":             {[]*answer{nil}, "no replica answered"},
		"finds a move that was taken back":      {[]*answer{{size: size("2", "1Gi")}, {size: size("1", "1Gi")}}, "moved"},
	} {
		t.Run(name, func(t *testing.T) {
			j := &judge{before: map[string]*workloadresizerv1.ResourceAmounts{"web": size("1", "1Gi")}}
			j.begin("rest")
			for _, a := range test.seen {
				j.see("web", a)
			}
			err := j.print(new(strings.Builder))
			if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("%v, want %q", err, test.fault)
			}
		})
	}
}
