package node

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// annotate changes the annotations of the worker's pod, and returns the events about them.
func (w *worker) annotate(annotations map[string]string) []string {
	recorder := record.NewFakeRecorder(10)
	pod := testPod.DeepCopy()
	pod.Annotations = annotations
	probes{w.machine, recorder}.AddPod(w.t.Context(), pod)
	close(recorder.Events)
	var events []string
	for event := range recorder.Events {
		events = append(events, event)
	}
	return events
}

func declaring(declaration string) map[string]string {
	return map[string]string{"work.testcluster.local/main": declaration}
}

func TestRedeclare(t *testing.T) {
	t.Run("a running container does what the annotation says now", aRunningContainerDoesWhatItIsTold)
	t.Run("a running container can be made to exceed its memory", aRunningContainerCanExceedItsMemory)
	t.Run("a running container can be made to crash", aRunningContainerCanCrash)
	t.Run("a running container keeps its work if the new one is invalid", aRunningContainerKeepsItsWork)
	t.Run("an annotation for an unknown container is an event", anUnknownContainerIsAnEvent)
	t.Run("a restored machine does the changed work", aRestoredMachineDoesTheChangedWork)
}

func aRunningContainerDoesWhatItIsTold(t *testing.T) {
	w := newWorker(t, newTestMachine(), "cpu: 500m", nil)
	w.seconds(2)
	for _, step := range []struct {
		annotations map[string]string
		want        time.Duration
	}{
		{declaring(`cpu: "2"`), 5 * time.Second},
		{map[string]string{"unrelated": "changed", "work.testcluster.local/main": `cpu: "2"`}, 9 * time.Second},
		{nil, 9*time.Second + 2*time.Millisecond},
	} {
		if events := w.annotate(step.annotations); events != nil {
			t.Fatalf("got %v", events)
		}
		w.seconds(2)
		if got := w.usage(); got != step.want {
			t.Errorf("used %v with %v, want %v", got, step.annotations, step.want)
		}
	}
}

func aRunningContainerCanExceedItsMemory(t *testing.T) {
	w := newWorker(t, newTestMachine(), "memory: 8Mi", &runtimeapi.LinuxContainerResources{MemoryLimitInBytes: 10 << 20})
	w.seconds(1)
	w.annotate(declaring("memory: 11Mi"))
	w.seconds(1)
	if got := w.status().Reason; got != "OOMKilled" {
		t.Errorf("the container ended with %q", got)
	}
}

func aRunningContainerCanCrash(t *testing.T) {
	w := newWorker(t, newTestMachine(), "cpu: 100m", nil)
	w.annotate(declaring("job: {coreSeconds: 0.001, exitCode: 7}"))
	w.seconds(1)
	if got := w.status().ExitCode; got != 7 {
		t.Errorf("the container ended with %d", got)
	}
}

func aRunningContainerKeepsItsWork(t *testing.T) {
	w := newWorker(t, newTestMachine(), "cpu: 500m", nil)
	for range 2 {
		events := w.annotate(declaring("cpu: much"))
		if len(events) != 1 || !strings.HasPrefix(events[0], "Warning InvalidWork annotation work.testcluster.local/main: ") {
			t.Errorf("got %v", events)
		}
	}
	w.seconds(2)
	if got := w.usage(); got != time.Second {
		t.Errorf("used %v", got)
	}
}

func anUnknownContainerIsAnEvent(t *testing.T) {
	w := newWorker(t, newTestMachine(), "cpu: 500m", nil)
	events := w.annotate(map[string]string{"work.testcluster.local/mian": "cpu: 1", "work.testcluster.local/main": "cpu: 500m"})
	if want := "Warning InvalidWork annotation work.testcluster.local/mian: the pod has no such container"; len(events) != 1 || events[0] != want {
		t.Errorf("got %v, want %s", events, want)
	}
}

func aRestoredMachineDoesTheChangedWork(t *testing.T) {
	w := newWorker(t, newTestMachine(), "cpu: 500m", nil)
	w.annotate(declaring(`cpu: "1"`))
	w.annotate(declaring("cpu: much"))
	file := filepath.Join(t.TempDir(), "machine.json")
	if err := w.save(file); err != nil {
		t.Fatal(err)
	}
	w.machine = newTestMachine()
	if err := w.restore(file); err != nil {
		t.Fatal(err)
	}
	w.seconds(2)
	if got := w.usage(); got != 2*time.Second {
		t.Errorf("used %v", got)
	}
}
