package history

import (
	"testing"
	"time"
)

func TestCheckpoint(t *testing.T) {
	f := newFixture(t)
	for i, pod := range []Pod{slow, fast, {UID: "c", NodeType: "n2d"}} {
		f.cpu(pod, began.Add(time.Duration(i)*time.Second), 100)
		f.memory(pod, began.Add(time.Duration(i)*time.Second), int64(i+1)*100e6)
	}
	now := began.Add(25 * time.Hour)
	f.memory(slow, now, 500e6)
	t.Run("has the samples of one node type, without open windows", func(t *testing.T) {
		c, ok := f.Checkpoint(web, "n2d", now)
		if !ok || c.Samples != 2 || !c.First.Equal(began) || !c.Last.Equal(began.Add(2*time.Second)) || !c.Updated.Equal(now) {
			t.Fatalf("%+v, %v", c, ok)
		}
		// The window of the third pod has ended, too.
		if len(c.Memory.Weights) != 2 || c.CPU.Weights[8] != 10000 {
			t.Errorf("weights %v and %v", c.Memory.Weights, c.CPU.Weights)
		}
		if c, _ := f.Checkpoint(web, "n2d", began.Add(time.Hour)); len(c.Memory.Weights) != 1 {
			t.Errorf("with open windows: %v", c.Memory.Weights)
		}
	})
	t.Run("does not exist without samples", func(t *testing.T) {
		if _, ok := f.Checkpoint(web, "n4", now); ok {
			t.Error("of an unknown node type")
		}
		if _, ok := f.Checkpoint(Container{}, "n2d", now); ok {
			t.Error("of an unknown container")
		}
	})
	t.Run("has no time without samples of CPU", func(t *testing.T) {
		g := newFixture(t)
		g.memory(slow, began, 1)
		if c, ok := g.Checkpoint(web, "n2d", began); !ok || c.First != nil || c.Last != nil {
			t.Errorf("%+v, %v", c, ok)
		}
	})
}
