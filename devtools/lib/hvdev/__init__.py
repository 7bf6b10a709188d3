# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Shared code of the developer commands: set-up, build, running the laboratory."""
