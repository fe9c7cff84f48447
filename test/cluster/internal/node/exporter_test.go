package node

import (
	"testing"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	cadvisorapiv2 "github.com/google/cadvisor/info/v2"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/kernel"
)

func TestExporter(t *testing.T) {
	w := newWorker(t, newTestMachine(), `cpu: "1"`, &runtimeapi.LinuxContainerResources{CpuQuota: 25_000, CpuPeriod: 100_000})
	w.containers[w.id].status.Image = &runtimeapi.ImageSpec{Image: "registry/web:1"}
	w.seconds(4)
	infos, err := exported{advisor{w.machine}}.GetRequestedContainersInfo("/", cadvisorapiv2.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const pod = "/kubepods/burstable/poduid"
	for name, want := range map[string]map[string]string{
		"/":              {"id": "/", "name": "", "image": "", "namespace": "", "pod": "", "container": ""},
		pod:              {"id": pod, "name": "", "image": "", "namespace": "shop", "pod": "web", "container": ""},
		pod + "/" + w.id: {"id": pod + "/" + w.id, "name": w.id, "image": "registry/web:1", "namespace": "shop", "pod": "web", "container": "main"},
	} {
		t.Run("the group has the kubelet's labels: "+name[:min(len(name), len(pod)+1)], func(t *testing.T) {
			info := infos[name]
			if info == nil {
				t.Fatalf("the group is missing from %v", infos)
			}
			got := w.metricLabels(info)
			for key, value := range want {
				if got[key] != value {
					t.Errorf("%s is %q, want %q", key, got[key], value)
				}
			}
			if len(got) != len(want) {
				t.Errorf("got %v", got)
			}
		})
	}
	t.Run("throttling and pressure are the container's", func(t *testing.T) {
		cpu := infos[pod+"/"+w.id].Stats[0].Cpu
		if want := (cadvisorapi.CpuCFS{Periods: 40, ThrottledPeriods: 40, ThrottledTime: 3_000_000_000}); cpu.CFS != want {
			t.Errorf("got %+v, want %+v", cpu.CFS, want)
		}
		// In microseconds, which cAdvisor's metrics divide by a million.
		if got := cpu.PSI.Some.Total; got != 3_000_000 {
			t.Errorf("the pressure is %d", got)
		}
	})
	t.Run("a quota is exactly that of the container", func(t *testing.T) {
		for milli := int64(10); milli <= 64_000; milli++ {
			quota := milli * cpuPeriodMicroseconds / 1000
			info := w.infoV1("/", &group{limits: limits(2, quota, cpuPeriodMicroseconds, 0)})
			if got := info.Spec.Cpu.Quota; got != uint64(quota) {
				t.Fatalf("got %d, want %d", got, quota)
			}
		}
	})
	t.Run("the highest usage stays when memory is freed", func(t *testing.T) {
		info := w.infoV1("/", &group{account: kernel.Account{Bytes: 1, Peak: 2}})
		if got := info.Stats[0].Memory; got.Usage != 1 || got.WorkingSet != 1 || got.MaxUsage != 2 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("the metrics of cAdvisor have its names and types", func(t *testing.T) {
		registry, err := newRegistry(w.machine)
		if err != nil {
			t.Fatal(err)
		}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		types := map[string]string{}
		for _, family := range families {
			types[family.GetName()] = family.GetType().String()
		}
		for name, want := range map[string]string{
			"container_cpu_usage_seconds_total":               "COUNTER",
			"container_cpu_cfs_periods_total":                 "COUNTER",
			"container_cpu_cfs_throttled_periods_total":       "COUNTER",
			"container_cpu_cfs_throttled_seconds_total":       "COUNTER",
			"container_pressure_cpu_waiting_seconds_total":    "COUNTER",
			"container_pressure_cpu_stalled_seconds_total":    "COUNTER",
			"container_pressure_memory_stalled_seconds_total": "COUNTER",
			"container_memory_working_set_bytes":              "GAUGE",
			"container_memory_max_usage_bytes":                "GAUGE",
			"container_spec_cpu_quota":                        "GAUGE",
			"container_oom_events_total":                      "COUNTER",
			"container_start_time_seconds":                    "GAUGE",
			"machine_cpu_cores":                               "GAUGE",
			"machine_memory_bytes":                            "GAUGE",
		} {
			if types[name] != want {
				t.Errorf("%s has the type %q, want %q", name, types[name], want)
			}
		}
	})
}
