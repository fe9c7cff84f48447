package pod

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// KnowsMemoryLimit reports whether a process reads the memory limit of the container when it starts, or is told how much
// memory it may use, as far as the pod's spec shows: it would not notice that the limit is lowered.
func (c *Container) KnowsMemoryLimit() bool { return c.facts&knowsLimit != 0 }

// heaps are environment variables that tell runtimes how large the heap may be, and those with options of Java virtual
// machines, which choose it by the limit unless told otherwise.
var heaps = []string{"GOMEMLIMIT", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "DOTNET_GCHeapHardLimit", "DOTNET_GCHeapHardLimitPercent"}

// readEnvironments reads which memory limits processes know. A process may read that of a different container.
func (p *Pod) readEnvironments(spec *corev1.PodSpec) {
	know := func(container string) {
		for i := range p.Containers {
			if c := &p.Containers[i]; c.Name() == container {
				c.facts |= knowsLimit
			}
		}
	}
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			c := &list[i]
			if runsJava(c) {
				know(c.Name)
			}
			for k := range c.Env {
				switch e := &c.Env[k]; {
				case e.ValueFrom != nil && e.ValueFrom.ResourceFieldRef != nil && e.ValueFrom.ResourceFieldRef.Resource == string(corev1.ResourceLimitsMemory):
					container := e.ValueFrom.ResourceFieldRef.ContainerName
					if container == "" {
						container = c.Name
					}
					know(container)
				case slices.Contains(heaps, e.Name), e.Name == "NODE_OPTIONS" && strings.Contains(e.Value, "max-old-space-size"):
					know(c.Name)
				}
			}
		}
	}
}

// runsJava reports whether the command of a container is java.
func runsJava(c *corev1.Container) bool {
	command := c.Command
	if len(command) == 0 {
		command = c.Args
	}
	return len(command) > 0 && path.Base(command[0]) == "java"
}
