// Package holds is the PauseService, and the Restore of the ResizeService: what people
// want to be left as it is, or given back.
//
// It must not know what becomes of pods that are held.
package holds
