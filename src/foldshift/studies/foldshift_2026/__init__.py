"""Are balanced cuts honest, and which interval holds?"""
