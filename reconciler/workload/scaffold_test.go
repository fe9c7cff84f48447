package workload_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// settings apply to all tests. Their pods are resized at second 10.
var settings = policy.Guard{Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Cooldown: 10 * time.Minute, MaxUnproven: intstr.FromString("10%")}

// Short names for what nearly all tests need.
var resized, withSecond, restarts, readiness, memoryReverted = podtest.Lowered, podtest.WithLoweredSecond, podtest.Restarted, podtest.Readiness, podtest.MemoryReverted

// record replaces what the resize changed.
func record(text string) func(*corev1.Pod) { return podtest.Annotated("applied-sizes", text) }
